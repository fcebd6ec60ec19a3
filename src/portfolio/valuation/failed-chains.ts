// Chains that could not be read, in a response that may lack them: named, counted in no total, and every total of all unknown.
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import type { ChainConfig } from "../types.ts";

type FailedChains = {
  /** The chains of the request, in its order. */
  readonly slugs: readonly string[];
  readonly failed: readonly ChainConfig[];
};

/** A total that lacks a chain would look like a smaller wallet. */
export function addFailedChains(
  snapshot: PortfolioSnapshot,
  { slugs, failed }: FailedChains,
): PortfolioSnapshot {
  if (failed.length === 0) return snapshot;
  const { summary } = snapshot;
  const none = { totalValueUsd: null, pricedTokenCount: 0, unpricedTokenCount: 0, tokenCount: 0 };
  const read = new Map(summary.chains.map((each) => [each.chain, each]));
  return {
    ...snapshot,
    chains: slugs,
    summary: {
      ...summary,
      totalValueUsd: null,
      stablecoinValueUsd: null,
      unlistedValueUsd: null,
      chains: slugs.map((chain) => read.get(chain) ?? { chain, ...none }),
      warnings: [
        ...failed.map((chain) => describeFailedChain(chain, "its value and all totals")),
        ...summary.warnings,
      ],
    },
    failedChains: failed.map(({ slug }) => slug),
  };
}

/** `what` is unknown because of it. */
export function describeFailedChain({ name }: Pick<ChainConfig, "name">, what: string): string {
  return `${name} could not be read and is missing: ${what} are unknown.`;
}
