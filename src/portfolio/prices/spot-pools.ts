// Pools of known code: how much of the quote token they would pay, at what rate, and since when.

import { decodeTokenAmount, decodeWords, wordToSigned } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { type CallResults, createCallEncoder } from "../multicall.ts";
import { getSqrtPriceAtTick, TICK_MAX, TICK_MIN } from "../positions/uniswap-v3/tick-math.ts";
import { erc20 } from "../tokens/erc20.ts";
import type { ContractRead } from "../types.ts";
import type { PoolFactory } from "./spot-markets.ts";

/** How long liquidity must have stood to count: longer than anyone lends money for one block or one snapshot. */
export const STOOD_SECONDS = 1_800;

/** Units of the quote token for one unit of the token. */
export type Ratio = readonly [numerator: bigint, denominator: bigint];

export type PoolState = {
  /** Units of the quote token that the pool would pay. The token's side proves nothing: its maker mints any amount. */
  readonly depth: bigint;
  readonly rate: Ratio;
  /** Of a pool of concentrated liquidity, as it stores its price; null for others. */
  readonly sqrtPrice: bigint | null;
};

/** How a pool trades, by the numbers of the contract that simulates sales. */
const TRADES = { concentrated: 0, constantProduct: 1, selfQuoting: 2 } as const;

/** A pair as a pool sees it: pools order their two tokens by address. */
type PoolSide = { readonly quote: Hex; readonly isTokenFirst: boolean };

/** What differs between the pools of different factories. All calls go to code that the factory deployed, none to the token. */
export type PoolKind = {
  readonly trade: (typeof TRADES)[keyof typeof TRADES];
  /** What it remembers of half an hour is where its liquidity was, and not how many coins that had. */
  readonly forgetsCoins: boolean;
  /** The calls that describe the pool at a block. */
  stateCalls(pool: Hex, quote: Hex): readonly ContractRead[];
  decodeState(results: CallResults, side: PoolSide): PoolState | null;
  /** The calls for what the pool itself remembers. */
  memoryCalls(pool: Hex): readonly ContractRead[];
  /** The state that stood for STOOD_SECONDS by the pool's own memory; null when it does not remember that long. */
  decodeMemory(
    results: { state: CallResults; memory: CallResults },
    side: PoolSide,
    now: number,
  ): PoolState | null;
};

const calls = {
  slot0: createCallEncoder("function slot0()"),
  liquidity: createCallEncoder("function liquidity() view returns (uint128)"),
  observe: createCallEncoder("function observe(uint32[])"),
  getReserves: createCallEncoder("function getReserves()"),
  metadata: createCallEncoder("function metadata()"),
};

const Q96 = 1n << 96n;
const Q128 = 1n << 128n;
const UINT160_MASK = (1n << 160n) - 1n;

/** What the liquidity around the price would pay if it reached down to a price of zero. */
function virtualState(sqrtPrice: bigint, liquidity: bigint, { isTokenFirst }: PoolSide): PoolState | null {
  if (sqrtPrice === 0n || liquidity === 0n) return null;
  const square = sqrtPrice * sqrtPrice;
  return isTokenFirst
    ? { depth: (liquidity * sqrtPrice) / Q96, rate: [square, Q96 * Q96], sqrtPrice }
    : { depth: (liquidity * Q96) / sqrtPrice, rate: [Q96 * Q96, square], sqrtPrice };
}

/** Two arrays of two words each: cumulative ticks, and cumulative seconds per liquidity. */
const OBSERVE_WORDS = 8;

function createConcentratedKind(slot0Words: number): PoolKind {
  return {
    trade: TRADES.concentrated,
    forgetsCoins: true,
    stateCalls: (pool, quote) => [calls.slot0(pool), calls.liquidity(pool), erc20.balanceOf(quote, [pool])],
    decodeState([slot0, liquidity, balance], side) {
      const sqrtPrice = decodeWords(slot0, slot0Words)?.[0];
      const state = virtualState(sqrtPrice ?? 0n, decodeTokenAmount(liquidity) ?? 0n, side);
      const held = decodeTokenAmount(balance) ?? 0n;
      // Liquidity far from the price is held but sets no price; concentrated liquidity sets one without being held.
      return state && { ...state, depth: state.depth < held ? state.depth : held };
    },
    memoryCalls: (pool) => [calls.observe(pool, [[STOOD_SECONDS, 0]])],
    decodeMemory({ state, memory }, side) {
      const sqrtPrice = decodeWords(state[0], slot0Words)?.[0] ?? 0n;
      const words = decodeWords(memory[0], OBSERVE_WORDS);
      const [from, to] = [wordToSigned(words?.[3], 56), wordToSigned(words?.[4], 56)];
      if (!words || from === null || to === null) return null;
      const tick = Number((to - from) / BigInt(STOOD_SECONDS));
      // The harmonic mean: a moment without liquidity counts more than a moment with much.
      const perLiquidity = ((words[7] ?? 0n) - (words[6] ?? 0n)) & UINT160_MASK;
      if (tick < TICK_MIN || tick > TICK_MAX || perLiquidity === 0n) return null;
      const liquidity = (BigInt(STOOD_SECONDS) * Q128) / perLiquidity;
      const average = virtualState(getSqrtPriceAtTick(tick), liquidity, side);
      // A whole tick is good enough to compare prices; the depth is that at today's price.
      return average && { ...average, depth: virtualState(sqrtPrice, liquidity, side)?.depth ?? 0n };
    },
  };
}

const RESERVES_WORDS = 3;

/** Null unless the reserves have not changed for STOOD_SECONDS. */
function ifUnchanged(
  state: PoolState | null,
  reserves: Hex | null | undefined,
  now: number,
): PoolState | null {
  const changedAt = decodeWords(reserves, RESERVES_WORDS)?.[2];
  return changedAt !== undefined && changedAt <= BigInt(now - STOOD_SECONDS) ? state : null;
}

function reservesState(ownToken: bigint, ofQuote: bigint): PoolState | null {
  if (ownToken === 0n || ofQuote === 0n) return null;
  return { depth: ofQuote, rate: [ofQuote, ownToken], sqrtPrice: null };
}

const uniswapV2Kind: PoolKind = {
  trade: TRADES.constantProduct,
  forgetsCoins: false,
  stateCalls: (pool) => [calls.getReserves(pool)],
  decodeState([reserves], { isTokenFirst }) {
    const [first = 0n, second = 0n] = decodeWords(reserves, RESERVES_WORDS) ?? [];
    return isTokenFirst ? reservesState(first, second) : reservesState(second, first);
  },
  memoryCalls: () => [],
  decodeMemory: ({ state }, side, now) => ifUnchanged(uniswapV2Kind.decodeState(state, side), state[0], now),
};

/** Both decimals as powers of ten, both reserves, whether stable, both tokens. */
const METADATA_WORDS = 7;

const solidlyKind: PoolKind = {
  trade: TRADES.selfQuoting,
  forgetsCoins: false,
  stateCalls: (pool) => [calls.metadata(pool)],
  decodeState([metadata], { isTokenFirst }) {
    const words = decodeWords(metadata, METADATA_WORDS) ?? [];
    const [unit0 = 0n, unit1 = 0n, reserve0 = 0n, reserve1 = 0n, stable] = words;
    const [own, quote] = isTokenFirst ? [reserve0, reserve1] : [reserve1, reserve0];
    const [ownUnit, quoteUnit] = isTokenFirst ? [unit0, unit1] : [unit1, unit0];
    const state = reservesState(own, quote);
    if (state === null || ownUnit === 0n || quoteUnit === 0n) return null;
    return stable === 0n ? state : { ...state, rate: stableRate([own, ownUnit], [quote, quoteUnit]) };
  },
  memoryCalls: (pool) => [calls.getReserves(pool)],
  decodeMemory: ({ state, memory }, side, now) =>
    ifUnchanged(solidlyKind.decodeState(state, side), memory[0], now),
};

type Reserve = readonly [amount: bigint, unit: bigint];

/**
 * The slope of a stable pool's curve x³y + xy³ = k, in which x and y count whole tokens:
 * dy/dx = y (3x² + y²) / (x (x² + 3y²)). Both reserves are brought to the same unit first.
 */
function stableRate([own, ownUnit]: Reserve, [quote, quoteUnit]: Reserve): Ratio {
  const [x, y] = [own * quoteUnit, quote * ownUnit];
  return [y * (3n * x * x + y * y) * quoteUnit, x * (x * x + 3n * y * y) * ownUnit];
}

const KINDS: Readonly<Record<PoolFactory["kind"], PoolKind>> = {
  "uniswap-v2": uniswapV2Kind,
  solidly: solidlyKind,
  // PancakeSwap's pools return as many words, with wider fees.
  "uniswap-v3": createConcentratedKind(7),
  slipstream: createConcentratedKind(6),
};

export function findPoolKind({ kind }: PoolFactory): PoolKind {
  return KINDS[kind];
}
