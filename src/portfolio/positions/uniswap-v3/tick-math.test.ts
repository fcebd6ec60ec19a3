// Tick and liquidity arithmetic against published values, and against exact rational arithmetic.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computeFeesSince,
  getAmountsForLiquidity,
  getFeeGrowthInside,
  getSqrtPriceAtTick,
  SQRT_PRICE_MAX,
  SQRT_PRICE_MIN,
  TICK_BIT_FACTORS,
  TICK_MAX,
  TICK_MIN,
} from "./tick-math.ts";

const Q96 = 1n << 96n;
const Q128 = 1n << 128n;
const WRAP = 1n << 256n;

const tick = fc.integer({ min: TICK_MIN, max: TICK_MAX });
const range = fc
  .tuple(tick, tick)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ tickLower: Math.min(a, b), tickUpper: Math.max(a, b) }));
const liquidity = fc.bigInt({ min: 0n, max: Q128 - 1n });
const sqrtPrice = fc.oneof(
  tick.map(getSqrtPriceAtTick),
  fc.bigInt({ min: SQRT_PRICE_MIN, max: SQRT_PRICE_MAX - 1n }),
);

describe("getSqrtPriceAtTick", () => {
  it.each([
    [TICK_MIN, SQRT_PRICE_MIN],
    [TICK_MIN + 1, 4295343490n],
    [-500_000, 1101692437043807371n],
    [-50, 79030349367926598376800521322n],
    [-1, 79224201403219477170569942574n],
    [0, Q96],
    [1, 79232123823359799118286999568n],
    [50, 79426470787362580746886972461n],
    [100, 79625275426524748796330556128n],
    [250, 80224679980005306637834519095n],
    [500, 81233731461783161732293370115n],
    [1_000, 83290069058676223003182343270n],
    [TICK_MAX - 1, 1461373636630004318706518188784493106690254656249n],
    [TICK_MAX, SQRT_PRICE_MAX],
  ])("computes the price of the pools at tick %i", (at, expected) => {
    expect(getSqrtPriceAtTick(at)).toBe(expected);
  });

  it.each([TICK_MIN - 1, TICK_MAX + 1, 0.5, Number.NaN])("rejects %d", (at) => {
    expect(() => getSqrtPriceAtTick(at)).toThrow(RangeError);
  });

  it("uses factors that equal the powers they represent", () => {
    // sqrt(1.0001)^(2^i), squared i times from the root, with 300 bits of fraction.
    const bits = 300n;
    let power = squareRoot((10_001n << (2n * bits)) / 10_000n);
    for (const [bit, factor] of TICK_BIT_FACTORS.entries()) {
      const exact = (Q128 << bits) / power;
      const error = exact > factor ? exact - factor : factor - exact;
      expect(error <= 1n, `bit ${bit} is off by ${error}`).toBe(true);
      power = (power * power) >> bits;
    }
  });

  it("rises with the tick", () => {
    fc.assert(
      fc.property(fc.integer({ min: TICK_MIN, max: TICK_MAX - 1 }), (at) => {
        expect(getSqrtPriceAtTick(at) < getSqrtPriceAtTick(at + 1)).toBe(true);
      }),
    );
  });
});

describe("getAmountsForLiquidity", () => {
  it("returns amounts never above the exact ones, and less than two units below", () => {
    fc.assert(
      fc.property(liquidity, sqrtPrice, range, (amount, price, between) => {
        const lower = getSqrtPriceAtTick(between.tickLower);
        const upper = getSqrtPriceAtTick(between.tickUpper);
        const inside = price < lower ? lower : price > upper ? upper : price;
        const { amount0, amount1 } = getAmountsForLiquidity(amount, price, between);
        // amount0 = L × 2^96 × (upper - p) / (upper × p), as a fraction; two roundings take up to two units.
        const numerator = amount * Q96 * (upper - inside);
        expect(amount0 >= 0n && amount0 * upper * inside <= numerator).toBe(true);
        expect((amount0 + 2n) * upper * inside > numerator).toBe(true);
        const product = amount * (inside - lower);
        expect(amount1 >= 0n && amount1 * Q96 <= product && (amount1 + 1n) * Q96 > product).toBe(true);
      }),
    );
  });

  it("moves from the first token to the second as the price rises", () => {
    fc.assert(
      fc.property(liquidity, sqrtPrice, sqrtPrice, range, (amount, a, b, between) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const before = getAmountsForLiquidity(amount, low, between);
        const after = getAmountsForLiquidity(amount, high, between);
        expect(after.amount0 <= before.amount0 && after.amount1 >= before.amount1).toBe(true);
      }),
    );
  });

  it("holds one token only outside its range", () => {
    const between = { tickLower: -100, tickUpper: 100 };
    expect(getAmountsForLiquidity(10n ** 18n, getSqrtPriceAtTick(-200), between).amount1).toBe(0n);
    expect(getAmountsForLiquidity(10n ** 18n, getSqrtPriceAtTick(200), between).amount0).toBe(0n);
  });
});

describe("fees", () => {
  it("counts fees earned inside, wherever the price stands and however the counters wrapped", () => {
    const counter = fc.bigInt({ min: 0n, max: WRAP - 1n });
    const grown = fc.bigInt({ min: 0n, max: Q128 });
    // The boundaries are where mistakes live; chance alone would hardly ever hit them.
    const rangeAndTick = range.chain((between) =>
      fc.tuple(fc.constant(between), fc.oneof(tick, fc.constantFrom(between.tickLower, between.tickUpper))),
    );
    fc.assert(
      fc.property(rangeAndTick, counter, counter, grown, ([between, at], below, above, inside) => {
        // The definition of the counters: all of it is what was earned below, inside and above together.
        const global = BigInt.asUintN(256, below + inside + above);
        const outside = (boundary: number, under: bigint) =>
          at >= boundary ? BigInt.asUintN(256, under) : BigInt.asUintN(256, global - under);
        const lower = outside(between.tickLower, below);
        const upper = outside(between.tickUpper, below + inside);
        const found = getFeeGrowthInside(between, {
          tick: at,
          global0: global,
          global1: global,
          lower: { outside0: lower, outside1: lower },
          upper: { outside0: upper, outside1: upper },
        });
        expect(found).toEqual([inside, inside]);
      }),
    );
  });

  it("computes fees as growth times liquidity, rounded down", () => {
    expect(computeFeesSince(5n, 5n, 10n ** 18n)).toBe(0n);
    expect(computeFeesSince(0n, Q128, 7n)).toBe(7n);
    expect(computeFeesSince(0n, Q128 - 1n, 7n)).toBe(6n);
    expect(computeFeesSince(WRAP - Q128, Q128, 3n)).toBe(6n);
  });
});

function squareRoot(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
