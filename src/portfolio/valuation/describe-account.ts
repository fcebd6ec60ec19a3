// Describes the wallet's account on one chain: gas readiness, and the health of lending accounts.
import { toCaip2Network } from "../../lib/caip2.ts";
import { formatAmount } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { GasReadiness, LendingHealth } from "../../schema/portfolio/snapshot.ts";
import { describeRatios, toUsd } from "../health/loan.ts";
import { type ChainConfig, getAssetKey } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

/** The fields by which parts of a response name their chain. */
export function identifyChain({ slug, chainId }: ChainConfig): { chain: string; chainId: string } {
  return { chain: slug, chainId: toCaip2Network(chainId) };
}

/** How many transfers the native balance pays for at the fees of the block. */
export function describeGas({ chain, holdings, gas }: ChainData): GasReadiness {
  const balance = holdings.find(({ contract }) => contract === null)?.rawBalance ?? 0n;
  const { symbol, decimals } = chain.native;
  /** Null if a transfer costs nothing, as on a private chain. */
  const count = (cost: bigint) => (cost === 0n ? null : (balance / cost).toString());
  return {
    ...identifyChain(chain),
    symbol,
    rawBalance: balance.toString(),
    balance: formatAmount(balance, decimals),
    gasPrice: gas?.gasPrice.toString() ?? null,
    transferCost: gas?.transferCost.toString() ?? null,
    transfers: gas && count(gas.transferCost),
    tokenTransferCost: gas?.tokenTransferCost.toString() ?? null,
    tokenTransfers: gas && count(gas.tokenTransferCost),
    ready: gas && balance >= gas.tokenTransferCost,
  };
}

const UNKNOWN_HEALTH = {
  healthFactor: null,
  loanToValue: null,
  liquidationThreshold: null,
  distanceToLiquidation: null,
  liquidatable: null,
  collateralUsd: null,
  debtUsd: null,
};

/** Ratios by the market, dollars if its unit has a price. */
export function listHealth({ chain, health, prices }: ChainData): readonly LendingHealth[] {
  const priceOf = (contract: Hex | null) => prices.get(getAssetKey({ contract }))?.usd ?? null;
  return health.map(({ protocol, name, contract, loan }) => ({
    ...identifyChain(chain),
    protocol,
    name,
    contract,
    ...(loan === null
      ? UNKNOWN_HEALTH
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
