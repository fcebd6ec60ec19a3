// Amounts convert without loss in both directions.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAmount, parseAmount } from "./decimal.ts";
import { Fault } from "./fault.ts";

describe("amounts", () => {
  it("amounts round-trip for every token and amount", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat({ max: 255 }), (units, decimals) => {
        expect(parseAmount(formatAmount(units, decimals), decimals, "amount")).toBe(units);
      }),
    );
  });

  it("reads text with fewer or surplus-zero decimals exactly", () => {
    expect(parseAmount("1.5", 6, "amount")).toBe(1_500_000n);
    expect(parseAmount("1.5000000", 6, "amount")).toBe(1_500_000n);
    expect(parseAmount("7", 0, "amount")).toBe(7n);
  });

  it("rejects text finer than the smallest unit instead of rounding", () => {
    expect(() => parseAmount("0.0000001", 6, "price")).toThrow(
      new Fault("INPUT_INVALID", "price must have at most 6 decimal places."),
    );
  });
});
