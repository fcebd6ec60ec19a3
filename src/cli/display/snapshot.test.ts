// A snapshot in a terminal: loans with how far they are from liquidation, and nothing if there is no debt.
import type { LendingHealth } from "@sextant/client/generated/records";
import type { PortfolioSnapshot } from "@sextant/client/sextant";
import { expect, it } from "vitest";
import { exampleSnapshot } from "../../schema/portfolio/examples.ts";
import { createDisplay } from "./display.ts";
import { formatSnapshot } from "./paid-data.ts";

const loan: LendingHealth = {
  ...{ chain: "base", chainId: "eip155:8453", protocol: "morpho-blue", name: "Morpho Blue WETH/USDC 86 %" },
  ...{ contract: null, healthFactor: "1.067586206896551724", loanToValue: "0.805555555555555556" },
  ...{ liquidationThreshold: "0.86", distanceToLiquidation: "0.063307493540051679" },
  ...{ liquidatable: false, collateralUsd: "3600", debtUsd: "2900" },
};
const stream = { write: () => true };
const display = createDisplay({ out: stream, err: stream, environment: {} });
const show = (health: readonly LendingHealth[]) =>
  formatSnapshot({ ...exampleSnapshot, health } as PortfolioSnapshot, display).join("\n");

it("shows what a loan owes and how near it is to liquidation, cut rather than rounded", () => {
  const shown = show([
    loan,
    {
      ...loan,
      chain: "ethereum",
      healthFactor: "0.999",
      distanceToLiquidation: "0",
      liquidatable: true,
    },
  ]);
  expect(shown).toContain(`Loans
  loan                        chain     collateral   owed  health factor  may lose
  Morpho Blue WETH/USDC 86 %  base           $3600  $2900           1.06     6.3 %
  Morpho Blue WETH/USDC 86 %  ethereum       $3600  $2900           0.99     0.0 %  can be liquidated now`);
});

it("has no loans if nothing is owed, and dashes if that is unknown", () => {
  expect(show([{ ...loan, debtUsd: "0", loanToValue: "0" }])).not.toContain("Loans");
  const unknown = { healthFactor: null, distanceToLiquidation: null, collateralUsd: null, debtUsd: null };
  const shown = show([{ ...loan, ...unknown, loanToValue: null }]);
  expect(shown).toMatch(/^ {2}Morpho Blue WETH\/USDC 86 % +base +– +– +– +–/m);
});
