// The parts of a wallet become the answer: valued, ordered, added up.

import type { ChainSummary, PortfolioSnapshot, TopHolding } from "../snapshot-types.ts";
import { listRecentActivity } from "./recent-activity.ts";
import type { SnapshotData } from "./snapshot-data.ts";
import { compareByValue, formatUsdValue, sumKnownValues } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";
import { describeChainWarnings } from "./warnings.ts";

const TOP_HOLDINGS_MAX = 10;

export function valueSnapshot({ wallet, takenAtMs, provider, chains }: SnapshotData): PortfolioSnapshot {
  const valued = chains.map(valueChain);
  // Sorting is stable: equal values keep the order of the chains, and within a chain that of the contracts.
  const tokens = valued.flatMap((chain) => chain.tokens).sort(compareByValue);
  const positions = valued.flatMap((chain) => chain.positions).sort(compareByValue);
  return {
    address: wallet,
    timestamp: new Date(takenAtMs).toISOString(),
    chains: chains.map(({ chain }) => chain.slug),
    summary: {
      ...totals({ tokens, positions }),
      stablecoinValueUsd: stablecoinTotal({ tokens, positions }),
      chains: valued.map(chainSummary),
      topHoldings: topHoldings(tokens),
      warnings: [...new Set(valued.flatMap(describeChainWarnings))],
    },
    tokens: tokens.map(({ token: shown }) => shown),
    positions: positions.map(({ position: shown }) => shown),
    recentActivity: listRecentActivity(chains),
    provider,
  };
}

type Valued = Pick<ValuedChain, "tokens" | "positions">;

function chainSummary(chain: ValuedChain): ChainSummary {
  return { chain: chain.data.chain.slug, ...totals(chain) };
}

function totals({ tokens, positions }: Valued): Omit<ChainSummary, "chain"> {
  const counted = tokens.filter(counts);
  const priced = counted.filter(({ value }) => value !== null);
  return {
    totalValueUsd: formatUsdValue(sumKnownValues([...counted, ...positions].map(({ value }) => value))),
    pricedTokenCount: priced.length,
    unpricedTokenCount: counted.length - priced.length,
    tokenCount: counted.length,
  };
}

/** What is held in stablecoins, in the wallet and in positions, less what is owed in them. */
function stablecoinTotal({ tokens, positions }: Valued): string | null {
  const held = tokens.filter((token) => token.isStablecoin && counts(token)).map(({ value }) => value);
  return formatUsdValue(
    sumKnownValues([...held, ...positions.flatMap(({ stablecoinValues: stableValues }) => stableValues)]),
  );
}

function topHoldings(tokens: readonly ValuedToken[]): readonly TopHolding[] {
  return tokens
    .filter(counts)
    .flatMap(({ token: { chain, contract, symbol, name, valueUsd } }) =>
      valueUsd === null ? [] : [{ chain, contract, symbol, name, valueUsd }],
    )
    .slice(0, TOP_HOLDINGS_MAX);
}

function counts({ spamReasons }: ValuedToken): boolean {
  return spamReasons.length === 0;
}
