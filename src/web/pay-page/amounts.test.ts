// Amounts on the page: readable, and rounded by at most half of the last place.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPrice, formatQuantity, formatUsd, roundDecimalText, toMillionths } from "./amounts.ts";

describe("an amount", () => {
  it.each([
    ["0", "$0.00"],
    ["1234.5", "$1,234.50"],
    ["0.005", "$0.01"],
    ["0.0049", "< $0.01"],
    ["999999.995", "$1,000,000.00"],
    ["-800", "−$800.00"],
    ["123456789012345678901234567890.129", "$123,456,789,012,345,678,901,234,567,890.13"],
    [null, "–"],
  ])("formats %s dollars as %s", (text, shown) => expect(formatUsd(text)).toBe(shown));

  it.each([
    ["0.0000082", "$0.0000082"],
    ["0.012345678", "$0.01234"],
    ["2500", "$2,500.00"],
    [null, "–"],
  ])("formats the price %s as %s", (text, shown) => expect(formatPrice(text)).toBe(shown));

  it.each([
    ["2", "2"],
    ["100", "100"],
    ["1250.25", "1,250.25"],
    ["98765432109876.5234", "98,765,432,109,877"],
    ["1000000000.4", "1,000,000,000"],
    ["0.0314", "0.0314"],
    ["0.5", "0.5"],
    ["0.000000000012", "< 0.000001"],
    ["0", "0"],
    [null, "?"],
  ])("formats the token amount %s as %s", (text, shown) => expect(formatQuantity(text)).toBe(shown));

  it("rounds an amount by at most half of the last digit shown", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (units) => {
        const magnitude = units < 0n ? -units : units;
        const text = `${units < 0n ? "-" : ""}${magnitude / 1_000_000n}.${String(magnitude % 1_000_000n).padStart(6, "0")}`;
        expect(toMillionths(text)).toBe(units);
        const shown = roundDecimalText(text, 2).replaceAll(",", "").replace("−", "-");
        const off = toMillionths(shown) - units;
        expect(off <= 5_000n && off >= -5_000n).toBe(true);
      }),
    );
  });
});
