// Ratios of loans: rounded against the wallet, and a distance at which the market's own rule turns.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDecimal } from "../../lib/decimal.ts";
import { describeRatios, toUsd } from "./loan.ts";

const units = (value: bigint, scale = 8) => ({ units: value, scale });
const WAD = 10n ** 18n;

describe("a loan", () => {
  it("a loan of 50 against 100 at a threshold of 0.8 can lose three eighths of its collateral", () => {
    const loan = { collateral: units(100n), debt: units(50n), limit: units(80n), unit: null };
    expect(describeRatios(loan)).toEqual({
      ...{ healthFactor: "1.6", loanToValue: "0.5", liquidationThreshold: "0.8" },
      ...{ distanceToLiquidation: "0.375", liquidatable: false },
    });
  });

  it("a loan without debt has no health factor, and nothing to liquidate", () => {
    const loan = { collateral: units(100n), debt: units(0n), limit: units(80n), unit: null };
    expect(describeRatios(loan)).toEqual({
      ...{ healthFactor: null, loanToValue: "0", liquidationThreshold: "0.8" },
      ...{ distanceToLiquidation: null, liquidatable: false },
    });
  });

  it("a loan without collateral is liquidatable, with no distance left", () => {
    const loan = { collateral: units(0n), debt: units(1n), limit: units(0n), unit: null };
    expect(describeRatios(loan)).toEqual({
      ...{ healthFactor: "0", loanToValue: null, liquidationThreshold: null },
      ...{ distanceToLiquidation: "0", liquidatable: true },
    });
  });

  it("a loan has the health factor and check of its market if that has them", () => {
    const loan = { collateral: units(100n), debt: units(50n), limit: units(80n), unit: null };
    const own = { healthFactor: units(999n, 3), liquidatable: true };
    expect(describeRatios({ ...loan, ...own })).toMatchObject({ healthFactor: "0.999", liquidatable: true });
  });

  it("a loan stays within its limit at the distance, and leaves it just beyond", () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
    const threshold = fc.bigInt({ min: 1n, max: WAD });
    fc.assert(
      fc.property(amount, amount, threshold, (collateral, debt, factor) => {
        const limit = { units: collateral * factor, scale: 18 };
        const loan = { collateral: units(collateral, 0), debt: units(debt, 0), limit, unit: null };
        const { distanceToLiquidation, healthFactor, liquidatable } = describeRatios(loan);
        const lost = parseDecimal(distanceToLiquidation ?? "NaN", "distance");
        const share = lost.units * 10n ** BigInt(18 - lost.scale);
        /** The rest of the limit after that fall, against the debt, in units of 10^-36. */
        const isCovered = (fallen: bigint) => limit.units * (WAD - fallen) >= debt * WAD * WAD;
        const isSafe = limit.units >= debt * WAD;
        expect(liquidatable).toBe(!isSafe);
        expect(parseDecimal(healthFactor ?? "NaN", "factor").units >= 0n).toBe(true);
        if (!isSafe) expect(distanceToLiquidation).toBe("0");
        else {
          expect(isCovered(share)).toBe(true);
          expect(isCovered(share + 1n)).toBe(false);
        }
      }),
    );
  });
});

describe("dollars", () => {
  const price = () => units(3_000n, 0);
  it.each([
    ["in dollars", units(123_456_789_50n, 8), "usd", "123.456790"],
    ["in ether", units(15n, 1), { asset: null, per: units(1n, 0) }, "4500"],
    ["in another unit of ether", units(30n, 1), { asset: null, per: units(2n, 0) }, "4500"],
  ] as const)("converts the amounts of a market that counts %s to dollars", (_, value, unit, expected) => {
    expect(toUsd(value, unit, price)).toBe(expected.replace(/(\.\d*?)0+$/, "$1"));
  });

  it("returns no dollars without a unit or its price", () => {
    expect(toUsd(units(1n), null, price)).toBeNull();
    expect(toUsd(units(1n), { asset: null, per: units(1n, 0) }, () => null)).toBeNull();
  });
});
