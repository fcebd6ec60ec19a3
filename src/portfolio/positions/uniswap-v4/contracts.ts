// The Uniswap v4 deployments by chain id, calls to position manager and StateView, and validated decoding of the results.

import { keccak256 } from "viem";
import { readChainData } from "../../../chain/chain-data.ts";
import { createParametersCodec } from "../../../lib/abi/codec.ts";
import {
  decodeAddress,
  decodeTokenAmount,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToAddress,
  wordToSigned,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, joinReads, type Reads, toWords } from "../../contract-reads/reads.ts";
import type { PairAmounts } from "../liquidity.ts";
import {
  computeFeesSince,
  getAmountsForLiquidity,
  SQRT_PRICE_MAX,
  SQRT_PRICE_MIN,
  TICK_MAX,
  TICK_MIN,
} from "../uniswap-v3/tick-math.ts";

const uniswapV4Market = shape.object({
  /** The PositionManager, whose NFTs are the positions. */
  manager: shape.address,
  /** StateView: reads pools, which are entries of one contract. */
  stateView: shape.address,
  /** When the manager was deployed, in seconds since 1970: it has no older logs. */
  deployedAt: shape.integer,
});

export type UniswapV4Market = ShapeType<typeof uniswapV4Market>;

export const UNISWAP_V4_MARKETS = readChainData("liquidity", "uniswap-v4", shape.list(uniswapV4Market));

export const managerCalls = {
  balanceOf: defineRead("function balanceOf(address)", decodeTokenAmount),
  ownerOf: defineRead("function ownerOf(uint256)", decodeAddress),
};

const getPoolAndPositionInfo = defineRead("function getPoolAndPositionInfo(uint256)", (data) => data);

const stateCalls = {
  getSlot0: defineRead("function getSlot0(bytes32)", toWords(4)),
  getFeeGrowthInside: defineRead("function getFeeGrowthInside(bytes32, int24, int24)", toWords(2)),
  getPositionInfo: defineRead(
    "function getPositionInfo(bytes32, address, int24, int24, bytes32)",
    toWords(3),
  ),
};

/** The native coin is the address zero. */
type Currency = Hex | null;

export type V4Position = {
  readonly id: bigint;
  readonly currency0: Currency;
  readonly currency1: Hex;
  /** In millionths, unless the hook sets it. */
  readonly fee: number;
  readonly hooks: Hex | null;
  readonly poolId: Hex;
  readonly tickLower: number;
  readonly tickUpper: number;
};

const POSITION_WORDS = 6;
const FEE_BITS = 24n;
/** The packed word has a flag in its lowest byte, then the two ticks, then the first 25 bytes of the pool's id. */
const TICK_LOWER_SHIFT = 8n;
const TICK_UPPER_SHIFT = 32n;
const POOL_ID_SHIFT = 56n;

/** Null for anything that the position manager could not return, and for an id that does not exist. */
export function declareV4Position({ manager }: UniswapV4Market, id: bigint): Reads<V4Position | null> {
  return getPoolAndPositionInfo(manager, [id]).map((data) => decodeV4Position(id, data));
}

function decodeV4Position(id: bigint, returnData: Hex | null): V4Position | null {
  const words = decodeWords(returnData, POSITION_WORDS);
  if (returnData === null || words === null) return null;
  const [word0, word1, fee, spacing, hooksWord, info] = words;
  const currency1 = wordToAddress(word1);
  const isNative = word0 === 0n;
  const currency0 = wordToAddress(word0);
  if (currency1 === null || (currency0 === null && !isNative)) return null;
  if (fee >> FEE_BITS !== 0n || wordToSigned(spacing, 24) === null) return null;
  const hooks = wordToAddress(hooksWord);
  if (hooks === null && hooksWord !== 0n) return null;
  // A pool's id is the hash of its key, which is the first five words.
  const poolId = keccak256(`0x${returnData.slice(2, 2 + 64 * (POSITION_WORDS - 1))}`);
  if (BigInt(poolId) >> POOL_ID_SHIFT !== info >> POOL_ID_SHIFT) return null;
  const tickLower = unpackTick(info >> TICK_LOWER_SHIFT);
  const tickUpper = unpackTick(info >> TICK_UPPER_SHIFT);
  if (tickLower < TICK_MIN || tickUpper > TICK_MAX || tickLower >= tickUpper) return null;
  return { id, currency0, currency1, fee: Number(fee), hooks, poolId, tickLower, tickUpper };
}

function unpackTick(packed: bigint): number {
  return Number(BigInt.asIntN(24, packed));
}

const word = createParametersCodec([{ type: "uint256" }]);

/** Principal and fees: what burning the NFT would pay out, unless a hook changes it. */
export function declareAmounts(
  { manager, stateView }: UniswapV4Market,
  position: V4Position,
): Reads<PairAmounts | null> {
  const { id, poolId, tickLower, tickUpper } = position;
  // The manager owns all liquidity in the pools; the NFT's id tells its parts from each other.
  const owner = [poolId, manager, tickLower, tickUpper, word.encode([id])];
  const group = {
    slot0: stateCalls.getSlot0(stateView, [poolId]),
    fees: stateCalls.getFeeGrowthInside(stateView, [poolId, tickLower, tickUpper]),
    info: stateCalls.getPositionInfo(stateView, owner),
  };
  return joinReads(group).map(({ slot0, fees, info }) => {
    if (slot0 === null || fees === null || info === null) return null;
    const [[sqrtPrice], [inside0, inside1], [liquidity, last0, last1]] = [slot0, fees, info];
    if (sqrtPrice < SQRT_PRICE_MIN || sqrtPrice >= SQRT_PRICE_MAX || liquidity > TOKEN_AMOUNT_MAX)
      return null;
    const principal = getAmountsForLiquidity(liquidity, sqrtPrice, position);
    const amount0 = principal.amount0 + computeFeesSince(last0, inside0, liquidity);
    const amount1 = principal.amount1 + computeFeesSince(last1, inside1, liquidity);
    return amount0 > TOKEN_AMOUNT_MAX || amount1 > TOKEN_AMOUNT_MAX ? null : { amount0, amount1 };
  });
}

/** The bits of a hook's address by which it takes part in a withdrawal: it may reject it or keep some of it. */
const REMOVE_LIQUIDITY_FLAGS = (1n << 9n) | (1n << 8n) | 1n;

export function hasWithdrawalHook({ hooks }: V4Position): boolean {
  return hooks !== null && (BigInt(hooks) & REMOVE_LIQUIDITY_FLAGS) !== 0n;
}
