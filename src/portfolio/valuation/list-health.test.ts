// The health of lending accounts in the response: null if something is unknown, and a warning that says so.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeChainData,
  makePrices,
  makeSnapshot,
  numberedContract,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Loan } from "../health/loan.ts";

const units = (value: bigint) => ({ units: value, scale: 0 });
const ether: Loan["unit"] = { asset: null, per: units(1n) };

function snapshotOf(unit: Loan["unit"], price?: string) {
  const loan = { collateral: units(100n), debt: units(50n), limit: units(80n), unit };
  const account = {
    protocol: "aave-v2",
    market: "",
    name: "Test",
    contract: numberedContract(5),
    positions: [],
  };
  const prices = makePrices(price === undefined ? {} : { native: price });
  return makeSnapshot(
    makeChainData(makeChainConfig("base", 8453), { health: [{ ...account, loan }], prices }),
  );
}

const WARNING = `Collateral and debt of a lending account in aave-v2 on Base have no value in dollars: its market ${numberedContract(5)} counts in an asset without a known price.`;

describe("the dollars of a loan", () => {
  it.each([
    ["in ether without a price", ether, undefined],
    ["in an unknown unit", null, "3000"],
  ] as const)("dollars of a loan %s are null with a warning, and its ratios are known", (_, unit, price) => {
    const { health, summary } = snapshotOf(unit, price);
    expect(health).toMatchObject([{ healthFactor: "1.6", collateralUsd: null, debtUsd: null }]);
    expect(summary.warnings).toContain(WARNING);
  });

  it("values a loan in dollars by the price of its unit", () => {
    const { health, summary } = snapshotOf(ether, "3000");
    expect(health).toMatchObject([{ collateralUsd: "300000", debtUsd: "150000" }]);
    expect(summary.warnings).not.toContain(WARNING);
  });
});
