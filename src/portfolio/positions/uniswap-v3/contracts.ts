// Calls to the Uniswap v3 position manager and pools, and validated decoding of their results.
import { getContractAddress, keccak256 } from "viem";
import { createParametersCodec } from "../../../lib/abi/codec.ts";
import { decodeWords, TOKEN_AMOUNT_MAX, wordToAddress, wordToSigned } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import type { UniswapV3Market } from "./markets.ts";
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, TICK_MAX, TICK_MIN, type TickFees } from "./tick-math.ts";

export const positionManager = {
  balanceOf: createCallEncoder("function balanceOf(address) view returns (uint256)"),
  tokenOfOwnerByIndex: createCallEncoder(
    "function tokenOfOwnerByIndex(address, uint256) view returns (uint256)",
  ),
  positions: createCallEncoder("function positions(uint256)"),
};

export const poolCalls = {
  slot0: createCallEncoder("function slot0()"),
  feeGrowthGlobal0: createCallEncoder("function feeGrowthGlobal0X128() view returns (uint256)"),
  feeGrowthGlobal1: createCallEncoder("function feeGrowthGlobal1X128() view returns (uint256)"),
  ticks: createCallEncoder("function ticks(int24)"),
};

const POSITION_WORDS = 12;
const SLOT0_WORDS = 7;
const TICK_WORDS = 8;
const FEE_BITS = 24n;

export type NftPosition = {
  readonly token0: Hex;
  readonly token1: Hex;
  /** In millionths. */
  readonly fee: number;
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
  const [, , word0, word1, fee, lower, upper, liquidity, inside0, inside1, owed0, owed1] = words ?? [];
  const token0 = wordToAddress(word0);
  const token1 = wordToAddress(word1);
  const tickLower = decodeTick(lower);
  const tickUpper = decodeTick(upper);
  if (token0 === null || token1 === null || tickLower === null || tickUpper === null) return null;
  if (fee === undefined || inside0 === undefined || inside1 === undefined) return null;
  if (fee >> FEE_BITS !== 0n || tickLower >= tickUpper) return null;
  if (!isAmount(liquidity) || !isAmount(owed0) || !isAmount(owed1)) return null;
  return {
    token0,
    token1,
    fee: Number(fee),
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

export function decodePoolPrice(returnData: Hex | null | undefined): PoolPrice | null {
  const [sqrtPrice, word] = decodeWords(returnData, SLOT0_WORDS) ?? [];
  const tick = decodeTick(word);
  if (sqrtPrice === undefined || tick === null) return null;
  return sqrtPrice >= SQRT_PRICE_MIN && sqrtPrice < SQRT_PRICE_MAX ? { sqrtPrice, tick } : null;
}

export function decodeTickFees(returnData: Hex | null | undefined): TickFees | null {
  const [, , outside0, outside1] = decodeWords(returnData, TICK_WORDS) ?? [];
  return outside0 === undefined || outside1 === undefined ? null : { outside0, outside1 };
}

const poolKey = createParametersCodec([{ type: "address" }, { type: "address" }, { type: "uint24" }]);

/** The CREATE2 address of a pool: saves a call to the factory. */
export function computePoolAddress(
  { factory, poolCodeHash }: UniswapV3Market,
  { token0, token1, fee }: Pick<NftPosition, "token0" | "token1" | "fee">,
): Hex {
  const salt = keccak256(poolKey.encode([token0, token1, fee]));
  const address = getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecodeHash: poolCodeHash });
  return address.toLowerCase() as Hex;
}

function decodeTick(word: bigint | undefined): number | null {
  const tick = wordToSigned(word, 24);
  return tick !== null && tick >= TICK_MIN && tick <= TICK_MAX ? Number(tick) : null;
}

function isAmount(value: bigint | undefined): value is bigint {
  return value !== undefined && value <= TOKEN_AMOUNT_MAX;
}
