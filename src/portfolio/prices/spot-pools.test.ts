// Pools by a plain model and by recorded states: the slope of a stable pool's curve, and liquidity that is held but not around the price.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { findPoolKind } from "./spot-pools.ts";

const FACTORY: Hex = `0x${"fa".repeat(20)}`;
const quote: Hex = `0x${"01".repeat(20)}`;
const POOL: Hex = `0x${"02".repeat(20)}`;

function words(...values: readonly bigint[]): Hex {
  return `0x${values.map((value) => value.toString(16).padStart(64, "0")).join("")}`;
}

describe("a stable pool", () => {
  const kind = findPoolKind({ kind: "solidly", factory: FACTORY });
  const ONE = 10n ** 18n;
  const invariant = (x: bigint, y: bigint) => x * y * (x * x + y * y);

  /** How much y the pool pays for a small x, by bisection of its curve: what a trader would see. */
  function pays(x: bigint, y: bigint, input: bigint): bigint {
    const k = invariant(x, y);
    let [low, high] = [0n, y];
    while (low < high) {
      const middle = (low + high) / 2n;
      if (invariant(x + input, middle) < k) low = middle + 1n;
      else high = middle;
    }
    return y - low;
  }

  it("a stable pool has the rate of a small trade, for any decimals and either side", () => {
    const reserve = fc.bigInt({ min: 10n ** 4n, max: 10n ** 9n });
    const decimals = fc.constantFrom(6n, 8n, 18n);
    fc.assert(
      fc.property(
        reserve,
        reserve,
        decimals,
        decimals,
        fc.boolean(),
        (x, y, decimals0, decimals1, isTokenFirst) => {
          const [unit0, unit1] = [10n ** decimals0, 10n ** decimals1];
          const metadata = words(unit0, unit1, x * unit0, y * unit1, 1n, 1n, 2n);
          const state = kind.declareState(POOL, { quote, isTokenFirst }).decode([metadata]);
          if (state === null) throw new Error("the pool has a state");
          const [own, other] = isTokenFirst ? [x, y] : [y, x];
          const [ownUnit, otherUnit] = isTokenFirst ? [unit0, unit1] : [unit1, unit0];
          const input = (own * ONE) / 1_000_000n;
          const expected = Number(pays(own * ONE, other * ONE, input)) / Number(input);
          const [numerator, denominator] = state.rate;
          const rate = Number((numerator * ownUnit * ONE) / (denominator * otherUnit)) / Number(ONE);
          expect(Math.abs(rate / expected - 1)).toBeLessThan(1e-4);
          expect(state.depth).toBe(other * otherUnit);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("a stable pool without reserves has no rate", () => {
    const empty = words(10n ** 18n, 10n ** 6n, 0n, 5n, 1n, 1n, 2n);
    expect(kind.declareState(POOL, { quote, isTokenFirst: true }).decode([empty])).toBeNull();
    expect(kind.declareState(POOL, { quote, isTokenFirst: true }).decode([null])).toBeNull();
  });
});

describe("the pools of Aerodrome's own contracts", () => {
  const { pools } = JSON.parse(
    readFileSync(
      new URL("../../../tests/fixtures/prices/recorded/aerodrome-pools.json", import.meta.url),
      "utf8",
    ),
  ) as { pools: readonly AerodromePool[] };
  type AerodromePool = {
    readonly metadata: readonly (string | boolean)[];
    readonly tokenFirst: boolean;
    readonly fee: string;
    readonly sold: string;
    readonly paid: string;
    readonly depth: string;
  };
  const kind = findPoolKind({ kind: "solidly", factory: FACTORY });

  it.each(pools)("the pool of Aerodrome pays what the rate says, less the fee: $metadata", (pool) => {
    const metadata = words(...pool.metadata.map(BigInt), 1n, 2n);
    const state = kind.declareState(POOL, { quote, isTokenFirst: pool.tokenFirst }).decode([metadata]);
    const [numerator, denominator] = state?.rate ?? [0n, 1n];
    const beforeFee = Number(numerator * BigInt(pool.sold)) / Number(denominator);
    const expected = beforeFee * (1 - Number(pool.fee) / 10_000);
    // The trade itself moves the price by up to a five-hundredth.
    expect(Number(pool.paid) / expected).toBeGreaterThan(0.9979);
    expect(Number(pool.paid) / expected).toBeLessThanOrEqual(1.000001);
    expect(state?.depth).toBe(BigInt(pool.depth));
  });
});

describe.each([
  ["uniswap-v3", { kind: "uniswap-v3", factory: FACTORY, fees: [500] }, 7],
  ["slipstream", { kind: "slipstream", factory: FACTORY, tickSpacings: [1] }, 6],
] as const)("a pool of %s", (_, factory, slot0Words) => {
  const kind = findPoolKind(factory);
  const atPrice = (sqrtPrice: bigint) => words(sqrtPrice, ...Array<bigint>(slot0Words - 1).fill(0n));
  const Q96 = 1n << 96n;

  it("a pool pays no more than it holds, and no more than stands around the price", () => {
    const depth = (liquidity: bigint, held: bigint) =>
      kind
        .declareState(POOL, { quote, isTokenFirst: true })
        .decode([atPrice(Q96), words(liquidity), words(held)])?.depth;
    expect(depth(1_000_000n, 50n)).toBe(50n);
    // Held far away from the price, if there is no trade.
    expect(depth(3n, 1_000_000n)).toBe(3n);
    expect(depth(0n, 1_000_000n)).toBeUndefined();
  });

  it("a pool has the inverse rate on the other side", () => {
    const state = [atPrice(2n * Q96), words(1_000n), words(10_000n)];
    expect(kind.declareState(POOL, { quote, isTokenFirst: true }).decode(state)?.rate).toEqual([
      4n * Q96 * Q96,
      Q96 * Q96,
    ]);
    expect(kind.declareState(POOL, { quote, isTokenFirst: false }).decode(state)?.rate).toEqual([
      Q96 * Q96,
      4n * Q96 * Q96,
    ]);
  });

  it("remembers nothing when it reverts or returns something else", () => {
    const recall = (memory: Hex | null) =>
      kind.declareMemory(POOL, { quote, isTokenFirst: true }, 10_000).decode([atPrice(Q96), memory]);
    expect(recall(null)).toBeNull();
    expect(recall(words(1n, 2n))).toBeNull();
    // No seconds per liquidity, and an average tick beyond all ticks.
    expect(recall(words(64n, 160n, 2n, 0n, 0n, 2n, 5n, 5n))).toBeNull();
    expect(recall(words(64n, 160n, 2n, 0n, 10n ** 12n, 2n, 0n, 5n))).toBeNull();
  });
});
