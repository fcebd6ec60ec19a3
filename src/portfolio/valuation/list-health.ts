// The health of lending accounts as the response shows it: ratios by the market, dollars if its unit has a price.
import { toCaip2Network } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LendingHealth } from "../../schema/portfolio/snapshot.ts";
import { describeRatios, toUsd } from "../health/loan.ts";
import { getAssetKey } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

const UNKNOWN = {
  healthFactor: null,
  loanToValue: null,
  liquidationThreshold: null,
  distanceToLiquidation: null,
  liquidatable: null,
  collateralUsd: null,
  debtUsd: null,
};

export function listHealth({ chain, health, prices }: ChainData): readonly LendingHealth[] {
  const priceOf = (contract: Hex | null) => prices.get(getAssetKey({ contract }))?.usd ?? null;
  return health.map(({ protocol, name, contract, loan }) => ({
    chain: chain.slug,
    chainId: toCaip2Network(chain.chainId),
    protocol,
    name,
    contract,
    ...(loan === null
      ? UNKNOWN
      : {
          ...describeRatios(loan),
          collateralUsd: toUsd(loan.collateral, loan.unit, priceOf),
          debtUsd: toUsd(loan.debt, loan.unit, priceOf),
        }),
  }));
}

/** Loans whose ratios are known, by protocol and contract, because anyone may choose names. */
export function describeUnpricedLoans(data: ChainData): readonly string[] {
  return listHealth(data)
    .filter(({ liquidatable, collateralUsd }) => liquidatable !== null && collateralUsd === null)
    .map(
      ({ protocol, contract }) =>
        `Collateral and debt of a lending account in ${protocol} on ${data.chain.name} have no value in dollars: its market ${contract ?? ""} counts in an asset without a known price.`,
    );
}
