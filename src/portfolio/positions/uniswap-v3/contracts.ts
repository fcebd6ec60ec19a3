// Calls to the position managers, gauges and pools of Uniswap v3 and its forks, and validated decoding of their results.
import { getContractAddress, keccak256 } from "viem";
import { createParametersCodec } from "../../../lib/abi/codec.ts";
import { decodeWords, TOKEN_AMOUNT_MAX, wordToAddress, wordToSigned } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import type { LiquidityNftMarket } from "./markets.ts";
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, TICK_MAX, TICK_MIN, type TickFees } from "./tick-math.ts";

export const positionManager = {
  balanceOf: createCallEncoder("function balanceOf(address) view returns (uint256)"),
  tokenOfOwnerByIndex: createCallEncoder(
    "function tokenOfOwnerByIndex(address, uint256) view returns (uint256)",
  ),
  positions: createCallEncoder("function positions(uint256)"),
};

export const gaugeCalls = {
  isGauge: createCallEncoder("function isGauge(address) view returns (bool)"),
  nft: createCallEncoder("function nft() view returns (address)"),
  stakedValues: createCallEncoder("function stakedValues(address) view returns (uint256[])"),
};

export const poolCalls = {
  slot0: createCallEncoder("function slot0()"),
  feeGrowthGlobal0: createCallEncoder("function feeGrowthGlobal0X128() view returns (uint256)"),
  feeGrowthGlobal1: createCallEncoder("function feeGrowthGlobal1X128() view returns (uint256)"),
  ticks: createCallEncoder("function ticks(int24)"),
};

const POSITION_WORDS = 12;
const POOL_KEY_BITS = 24n;

/** How many words slot0 and a tick have, and which of a tick's words is the first of the two fee counters. */
const POOL_WORDS = {
  uniswap: { slot0: 7, tick: 8, tickFees: 2 },
  // Slot0 without a protocol fee; the liquidity that is staked stands before a tick's fees.
  slipstream: { slot0: 6, tick: 10, tickFees: 3 },
} as const satisfies Record<LiquidityNftMarket["shape"], unknown>;

export type NftPosition = {
  readonly token0: Hex;
  readonly token1: Hex;
  /** What distinguishes the pools of two tokens: the fee in millionths, or the tick spacing of Slipstream. */
  readonly poolKey: number;
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
  readonly feeGrowthInside0Last: bigint;
  readonly feeGrowthInside1Last: bigint;
  readonly tokensOwed0: bigint;
  readonly tokensOwed1: bigint;
};

/** Null for anything that the position manager could not return. */
export function decodeNftPosition(returnData: Hex | null | undefined): NftPosition | null {
  const words = decodeWords(returnData, POSITION_WORDS);
  const [, , word0, word1, poolKey, lower, upper, liquidity, inside0, inside1, owed0, owed1] = words ?? [];
  const token0 = wordToAddress(word0);
  const token1 = wordToAddress(word1);
  const tickLower = decodeTick(lower);
  const tickUpper = decodeTick(upper);
  if (token0 === null || token1 === null || tickLower === null || tickUpper === null) return null;
  if (poolKey === undefined || inside0 === undefined || inside1 === undefined) return null;
  if (poolKey >> POOL_KEY_BITS !== 0n || tickLower >= tickUpper) return null;
  if (!isAmount(liquidity) || !isAmount(owed0) || !isAmount(owed1)) return null;
  return {
    token0,
    token1,
    poolKey: Number(poolKey),
    tickLower,
    tickUpper,
    liquidity,
    feeGrowthInside0Last: inside0,
    feeGrowthInside1Last: inside1,
    tokensOwed0: owed0,
    tokensOwed1: owed1,
  };
}

type PoolPrice = { readonly sqrtPrice: bigint; readonly tick: number };

export function decodePoolPrice(
  returnData: Hex | null | undefined,
  shape: LiquidityNftMarket["shape"],
): PoolPrice | null {
  const [sqrtPrice, word] = decodeWords(returnData, POOL_WORDS[shape].slot0) ?? [];
  const tick = decodeTick(word);
  if (sqrtPrice === undefined || tick === null) return null;
  return sqrtPrice >= SQRT_PRICE_MIN && sqrtPrice < SQRT_PRICE_MAX ? { sqrtPrice, tick } : null;
}

export function decodeTickFees(
  returnData: Hex | null | undefined,
  shape: LiquidityNftMarket["shape"],
): TickFees | null {
  const { tick, tickFees } = POOL_WORDS[shape];
  const [outside0, outside1] = decodeWords(returnData, tick)?.slice(tickFees) ?? [];
  return outside0 === undefined || outside1 === undefined ? null : { outside0, outside1 };
}

const poolSalt = createParametersCodec([{ type: "address" }, { type: "address" }, { type: "uint24" }]);

/** The CREATE2 address of a pool: saves a call to the factory. */
export function computePoolAddress(
  { poolDeployer, poolCodeHash }: Pick<LiquidityNftMarket, "poolDeployer" | "poolCodeHash">,
  { token0, token1, poolKey }: Pick<NftPosition, "token0" | "token1" | "poolKey">,
): Hex {
  const salt = keccak256(poolSalt.encode([token0, token1, poolKey]));
  const from = { opcode: "CREATE2", from: poolDeployer } as const;
  return getContractAddress({ ...from, salt, bytecodeHash: poolCodeHash }).toLowerCase() as Hex;
}

function decodeTick(word: bigint | undefined): number | null {
  const tick = wordToSigned(word, 24);
  return tick !== null && tick >= TICK_MIN && tick <= TICK_MAX ? Number(tick) : null;
}

function isAmount(value: bigint | undefined): value is bigint {
  return value !== undefined && value <= TOKEN_AMOUNT_MAX;
}
