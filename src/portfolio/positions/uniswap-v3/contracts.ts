// Deployments of Uniswap v3 and its forks by chain id, calls to their contracts, and validated decoding of the results.

import { getContractAddress, keccak256 } from "viem";
import { readChainData } from "../../../chain/chain-data.ts";
import { createParametersCodec } from "../../../lib/abi/codec.ts";
import {
  decodeAddress,
  decodeBoolean,
  decodeTokenAmount,
  decodeWord,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToAddress,
  wordToSigned,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, joinReads, type Reads, toWordArray } from "../../contract-reads/reads.ts";
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, TICK_MAX, TICK_MIN, type TickFees } from "./tick-math.ts";

const liquidityNftMarket = shape.object({
  /** `protocol` of its positions. */
  protocol: shape.text,
  name: shape.text,
  /** The NonfungiblePositionManager, whose NFTs are the positions. */
  manager: shape.address,
  /** The contract that creates the pools: the factory, or its deployer. */
  poolDeployer: shape.address,
  /**
   * Hash of the pools' creation code, from which a pool's address is computed. Slipstream's pools are minimal proxies: it is
   * that of the proxy code with the pool implementation in it.
   */
  poolCodeHash: shape.hash,
  /** Slipstream distinguishes pools by tick spacing instead of fee, and its pools return other words. */
  shape: shape.oneOf("uniswap", "slipstream"),
  /** A farm that lists the NFTs staked in it by owner, as the manager does. Staked NFTs still earn fees. */
  farm: shape.optional(shape.address),
  /** Says which contracts are gauges. NFTs staked in a gauge earn rewards instead of fees. */
  voter: shape.optional(shape.address),
});

export type LiquidityNftMarket = ShapeType<typeof liquidityNftMarket>;

export const LIQUIDITY_NFT_MARKETS = readChainData(
  "liquidity",
  "uniswap-v3",
  shape.list(liquidityNftMarket, ({ manager }) => manager),
);

/** Ten calls of their ids. Closed NFTs are never burnt, so a wallet that trades by ranges has hundreds of them. */
export const NFTS_MAX = 2_000;

export const positionManager = {
  balanceOf: defineRead("function balanceOf(address)", decodeTokenAmount),
  tokenOfOwnerByIndex: defineRead("function tokenOfOwnerByIndex(address, uint256)", decodeWord),
  positions: defineRead("function positions(uint256)", decodeNftPosition),
};

export const gaugeCalls = {
  isGauge: defineRead("function isGauge(address)", decodeBoolean),
  nft: defineRead("function nft()", decodeAddress),
  stakedValues: defineRead("function stakedValues(address)", toWordArray(NFTS_MAX)),
};

const feeGrowthGlobal0 = defineRead("function feeGrowthGlobal0X128()", decodeWord);
const feeGrowthGlobal1 = defineRead("function feeGrowthGlobal1X128()", decodeWord);

const POOL_KEY_BITS = 24n;

export type NftPosition = {
  readonly token0: Hex;
  readonly token1: Hex;
  /** The key that distinguishes the pools of two tokens: the fee in millionths, or the tick spacing of Slipstream. */
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
function decodeNftPosition(returnData: Hex | null): NftPosition | null {
  const words = decodeWords(returnData, 12);
  if (words === null) return null;
  const [, , word0, word1, poolKey, lower, upper, liquidity, inside0, inside1, owed0, owed1] = words;
  const token0 = wordToAddress(word0);
  const token1 = wordToAddress(word1);
  const tickLower = decodeTick(lower);
  const tickUpper = decodeTick(upper);
  if (token0 === null || token1 === null || tickLower === null || tickUpper === null) return null;
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

/** A pool's figures about a range of ticks; null for those that it could not return. */
export type RangeState = {
  readonly price: { readonly sqrtPrice: bigint; readonly tick: number } | null;
  readonly global0: bigint | null;
  readonly global1: bigint | null;
  readonly lower: TickFees | null;
  readonly upper: TickFees | null;
};

/** Positions in one pool share its price and fees: those calls are sent once. */
export function declareRange(
  shape: LiquidityNftMarket["shape"],
  pool: Hex,
  { tickLower, tickUpper }: Pick<NftPosition, "tickLower" | "tickUpper">,
): Reads<RangeState> {
  const { slot0, ticks } = SHAPES[shape];
  return joinReads({
    price: slot0(pool),
    global0: feeGrowthGlobal0(pool),
    global1: feeGrowthGlobal1(pool),
    lower: ticks(pool, [tickLower]),
    upper: ticks(pool, [tickUpper]),
  });
}

/** How many words slot0 and a tick have, and which of a tick's words is the first of the two fee counters. */
function defineShape(words: Readonly<Record<"slot0" | "tick" | "tickFees", number>>) {
  return {
    slot0: defineRead("function slot0()", (data) => {
      const [sqrtPrice, word] = decodeWords(data, words.slot0) ?? [];
      const tick = decodeTick(word);
      if (sqrtPrice === undefined || tick === null) return null;
      return sqrtPrice >= SQRT_PRICE_MIN && sqrtPrice < SQRT_PRICE_MAX ? { sqrtPrice, tick } : null;
    }),
    ticks: defineRead("function ticks(int24)", (data): TickFees | null => {
      const [outside0, outside1] = decodeWords(data, words.tick)?.slice(words.tickFees) ?? [];
      return outside0 === undefined || outside1 === undefined ? null : { outside0, outside1 };
    }),
  };
}

const SHAPES = {
  uniswap: defineShape({ slot0: 7, tick: 8, tickFees: 2 }),
  // Slot0 without a protocol fee; the liquidity that is staked stands before a tick's fees.
  slipstream: defineShape({ slot0: 6, tick: 10, tickFees: 3 }),
} as const satisfies Record<LiquidityNftMarket["shape"], unknown>;

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

function isAmount(value: bigint): boolean {
  return value <= TOKEN_AMOUNT_MAX;
}
