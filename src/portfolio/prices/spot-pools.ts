// Pools of known code: how much of the quote token they would pay, at what rate, and since when.

import { decodeTokenAmount, decodeWords, type Words, wordToSigned } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { defineRead, joinReads, type Reads, toWords } from "../contract-reads/reads.ts";
import { getSqrtPriceAtTick, TICK_MAX, TICK_MIN } from "../positions/uniswap-v3/tick-math.ts";
import { erc20 } from "../tokens/erc20.ts";
import type { PoolFactory } from "./spot-markets.ts";

/** How long liquidity must have stood to count: longer than anyone lends money for one block or one snapshot. */
export const STOOD_SECONDS = 1_800;

/** Units of the quote token for one unit of the token. */
export type Ratio = readonly [numerator: bigint, denominator: bigint];

export type PoolState = {
  /** Units of the quote token that the pool would pay. The token's side proves nothing: its maker mints any amount. */
  readonly depth: bigint;
  readonly rate: Ratio;
  /** The price as a pool of concentrated liquidity stores it; null for others. */
  readonly sqrtPrice: bigint | null;
};

/** How a pool trades, by the numbers of the contract that simulates sales. */
const TRADES = { concentrated: 0, constantProduct: 1, selfQuoting: 2 } as const;

/** A pair as a pool sees it: pools order their two tokens by address. */
type PoolSide = { readonly quote: Hex; readonly isTokenFirst: boolean };

/**
 * The differences between the pools of different factories. All calls go to code that the factory deployed, none to the
 * token.
 */
export type PoolKind = {
  readonly trade: (typeof TRADES)[keyof typeof TRADES];
  /** It remembers the price range of its liquidity of the last half hour, but not how many coins that had. */
  readonly forgetsCoins: boolean;
  /** The pool at a block. */
  declareState(pool: Hex, side: PoolSide): Reads<PoolState | null>;
  /** The state that stood for STOOD_SECONDS by the pool's own memory; null when it does not remember that long. */
  declareMemory(pool: Hex, side: PoolSide, now: number): Reads<PoolState | null>;
};

const liquidity = defineRead("function liquidity()", decodeTokenAmount);
/** Two arrays of two words each: cumulative ticks, and cumulative seconds per liquidity. */
const observe = defineRead("function observe(uint32[])", toWords(8));
/** Both reserves, and when they changed. */
const getReserves = defineRead("function getReserves()", toWords(3));
/** Both decimals as powers of ten, both reserves, whether stable, both tokens. */
const metadata = defineRead("function metadata()", toWords(7));

const Q96 = 1n << 96n;
const Q128 = 1n << 128n;
const UINT160_MASK = (1n << 160n) - 1n;

/** The amount that the liquidity around the price would pay if it went down to a price of zero. */
function virtualState(sqrtPrice: bigint, liquidity: bigint, { isTokenFirst }: PoolSide): PoolState | null {
  if (sqrtPrice === 0n || liquidity === 0n) return null;
  const square = sqrtPrice * sqrtPrice;
  return isTokenFirst
    ? { depth: (liquidity * sqrtPrice) / Q96, rate: [square, Q96 * Q96], sqrtPrice }
    : { depth: (liquidity * Q96) / sqrtPrice, rate: [Q96 * Q96, square], sqrtPrice };
}

function createConcentratedKind(slot0Words: number): PoolKind {
  const sqrtPriceOf = defineRead("function slot0()", (data) => decodeWords(data, slot0Words)?.[0] ?? 0n);
  return {
    trade: TRADES.concentrated,
    forgetsCoins: true,
    declareState(pool, side) {
      const group = [sqrtPriceOf(pool), liquidity(pool), erc20.balanceOf(side.quote, [pool])] as const;
      return joinReads(group).map(([sqrtPrice, standing, held]) => {
        const state = virtualState(sqrtPrice, standing ?? 0n, side);
        const depthMax = held ?? 0n;
        // Liquidity far from the price is held but sets no price; concentrated liquidity sets one without being held.
        return state && { ...state, depth: state.depth < depthMax ? state.depth : depthMax };
      });
    },
    declareMemory(pool, side) {
      const group = [sqrtPriceOf(pool), observe(pool, [[STOOD_SECONDS, 0]])] as const;
      return joinReads(group).map(([sqrtPrice, words]) => words && recallAverage(sqrtPrice, words, side));
    },
  };
}

function recallAverage(sqrtPrice: bigint, words: Words<8>, side: PoolSide): PoolState | null {
  const [from, to] = [wordToSigned(words[3], 56), wordToSigned(words[4], 56)];
  if (from === null || to === null) return null;
  const tick = Number((to - from) / BigInt(STOOD_SECONDS));
  // The harmonic mean: a moment without liquidity counts more than a moment with much.
  const perLiquidity = (words[7] - words[6]) & UINT160_MASK;
  if (tick < TICK_MIN || tick > TICK_MAX || perLiquidity === 0n) return null;
  const mean = (BigInt(STOOD_SECONDS) * Q128) / perLiquidity;
  const average = virtualState(getSqrtPriceAtTick(tick), mean, side);
  // A whole tick is good enough to compare prices; the depth is that at today's price.
  return average && { ...average, depth: virtualState(sqrtPrice, mean, side)?.depth ?? 0n };
}

/** The state of a pool of reserves, unless those have changed within STOOD_SECONDS. */
function recallUnchanged(declareState: PoolKind["declareState"]): PoolKind["declareMemory"] {
  return (pool, side, now) =>
    joinReads([declareState(pool, side), getReserves(pool)]).map(([state, reserves]) =>
      reserves && reserves[2] <= BigInt(now - STOOD_SECONDS) ? state : null,
    );
}

function reservesState(ownToken: bigint, ofQuote: bigint): PoolState | null {
  if (ownToken === 0n || ofQuote === 0n) return null;
  return { depth: ofQuote, rate: [ofQuote, ownToken], sqrtPrice: null };
}

const uniswapV2State: PoolKind["declareState"] = (pool, { isTokenFirst }) =>
  getReserves(pool).map((reserves) => {
    const [first = 0n, second = 0n] = reserves ?? [];
    return isTokenFirst ? reservesState(first, second) : reservesState(second, first);
  });

const uniswapV2Kind: PoolKind = {
  trade: TRADES.constantProduct,
  forgetsCoins: false,
  declareState: uniswapV2State,
  declareMemory: recallUnchanged(uniswapV2State),
};

const solidlyState: PoolKind["declareState"] = (pool, { isTokenFirst }) =>
  metadata(pool).map((words) => {
    if (words === null) return null;
    const [unit0, unit1, reserve0, reserve1, stable] = words;
    const [own, quote] = isTokenFirst ? [reserve0, reserve1] : [reserve1, reserve0];
    const [ownUnit, quoteUnit] = isTokenFirst ? [unit0, unit1] : [unit1, unit0];
    const state = reservesState(own, quote);
    if (state === null || ownUnit === 0n || quoteUnit === 0n) return null;
    return stable === 0n ? state : { ...state, rate: stableRate([own, ownUnit], [quote, quoteUnit]) };
  });

const solidlyKind: PoolKind = {
  trade: TRADES.selfQuoting,
  forgetsCoins: false,
  declareState: solidlyState,
  declareMemory: recallUnchanged(solidlyState),
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
