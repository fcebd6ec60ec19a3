// Decimals are exact: checked against rational arithmetic on random numbers.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  divide,
  formatDecimal,
  multiplyDecimals,
  parseDecimal,
  roundDecimal,
} from "./decimal.ts";
import { Fault } from "./fault.ts";

const decimals = fc.record({
  units: fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
  scale: fc.nat({ max: 80 }),
});
const sameNumber = (a: Decimal, b: Decimal) => compareDecimals(a, b) === 0;

describe("decimal text", () => {
  it("round-trips every number", () => {
    fc.assert(fc.property(decimals, (value) => sameNumber(parseDecimal(formatDecimal(value), "n"), value)));
  });

  it("formats every decimal as the shortest plain text", () => {
    fc.assert(
      fc.property(decimals, (value) => {
        expect(formatDecimal(value)).toMatch(/^(-?(0|[1-9]\d*))(\.\d*[1-9])?$/);
        expect(formatDecimal(value)).not.toBe("-0");
      }),
    );
  });

  it.each([
    [{ units: 0n, scale: 18 }, "0"],
    [{ units: -1n, scale: 18 }, "-0.000000000000000001"],
    [{ units: 1_500_000n, scale: 6 }, "1.5"],
    [{ units: 100n, scale: 0 }, "100"],
    [{ units: 2n ** 256n - 1n, scale: 0 }, (2n ** 256n - 1n).toString()],
  ])("formats %o as %s", (value, text) => expect(formatDecimal(value)).toBe(text));

  it.each([
    "",
    " 1",
    "1 ",
    "+1",
    "1e5",
    "1.",
    ".5",
    "0x10",
    "1,000",
    "١",
    "NaN",
    "Infinity",
    "1".repeat(601),
    "--1",
  ])("rejects %j", (text) => expect(() => parseDecimal(text, "n")).toThrow(Fault));
});

describe("decimal arithmetic", () => {
  it("adds and multiplies like the integers it stands for", () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const common = 10n ** BigInt(a.scale + b.scale);
        const left = a.units * 10n ** BigInt(b.scale);
        const right = b.units * 10n ** BigInt(a.scale);
        const sum = addDecimals(a, b);
        expect(sum.units * common).toBe((left + right) * 10n ** BigInt(sum.scale));
        expect(
          sameNumber(multiplyDecimals(a, b), { units: a.units * b.units, scale: a.scale + b.scale }),
        ).toBe(true);
        expect(Math.sign(compareDecimals(a, b))).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });

  it("rounds to the nearest neighbour that the rounding names, and mirrors debts", () => {
    fc.assert(
      fc.property(
        decimals,
        fc.nat({ max: 80 }),
        fc.constantFrom("down", "up", "half-up"),
        (value, scale, rounding) => {
          const rounded = roundDecimal(value, scale, rounding);
          const step = { units: 1n, scale };
          const off = addDecimals(rounded, { units: -value.units, scale: value.scale });
          const distance = { units: off.units < 0n ? -off.units : off.units, scale: off.scale };
          expect(rounded.scale).toBe(scale);
          if (rounding === "half-up") {
            expect(
              compareDecimals(multiplyDecimals(distance, { units: 2n, scale: 0 }), step),
            ).toBeLessThanOrEqual(0);
          } else {
            expect(compareDecimals(distance, step)).toBe(-1);
            const growth = (value.units < 0n ? -1n : 1n) * off.units;
            expect(rounding === "up" ? growth >= 0n : growth <= 0n).toBe(true);
          }
          const mirrored = roundDecimal({ units: -value.units, scale: value.scale }, scale, rounding);
          expect(mirrored.units).toBe(-rounded.units);
        },
      ),
    );
  });

  it.each([
    ["0.0000005", "0.000001"],
    ["0.00000049", "0"],
    ["-0.0000005", "-0.000001"],
    ["2.5000005", "2.500001"],
  ])("rounds %s half-up to %s", (text, expected) => {
    expect(formatDecimal(roundDecimal(parseDecimal(text, "n"), 6, "half-up"))).toBe(expected);
  });

  it("rejects division by zero or a negative", () => {
    expect(() => divide(1n, 0n, "down")).toThrow(RangeError);
    expect(() => divide(1n, -1n, "down")).toThrow(RangeError);
  });
});
