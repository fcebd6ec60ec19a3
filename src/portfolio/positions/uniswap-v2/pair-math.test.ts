// Pair arithmetic: the root by its definition, and the protocol's part of the fees in round numbers.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeSupplyAfterFee, integerSqrt } from "./pair-math.ts";

describe("pair arithmetic", () => {
  it("finds the whole root of every number", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 224n }), (value) => {
        const root = integerSqrt(value);
        return root * root <= value && (root + 1n) * (root + 1n) > value;
      }),
    );
    expect([0n, 1n, 2n, 3n, 4n].map(integerSqrt)).toEqual([0n, 1n, 1n, 1n, 2n]);
    expect(() => integerSqrt(-1n)).toThrow(RangeError);
  });

  it("mints nothing without growth, and the protocol's part of it otherwise", () => {
    const weights = { growth: 1n, now: 5n, last: 1n };
    const supply = (reserve: bigint, kLast: bigint) =>
      computeSupplyAfterFee(6_000n, { reserve0: reserve, reserve1: reserve, kLast, weights });
    expect(supply(100n, 0n)).toBe(6_000n);
    expect(supply(100n, 100n ** 2n)).toBe(6_000n);
    expect(supply(90n, 100n ** 2n)).toBe(6_000n);
    // Grown from 100 to 120: 6,000 × 20 / (600 + 100).
    expect(supply(120n, 100n ** 2n)).toBe(6_000n + 171n);
  });
});
