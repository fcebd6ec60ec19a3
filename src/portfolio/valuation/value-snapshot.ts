// The parts of a wallet become the answer: valued, ordered, added up.

import type { ChainSummary, PortfolioSnapshot, TopHolding } from "../snapshot-types.ts";
import { recentActivity } from "./recent-activity.ts";
import type { SnapshotParts } from "./snapshot-data.ts";
import { byValue, sumKnown, usdText } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";
import { chainWarnings } from "./warnings.ts";

const TOP_HOLDINGS_MAX = 10;

export function valueSnapshot({ wallet, takenAtMs, provider, chains }: SnapshotParts): PortfolioSnapshot {
  const valued = chains.map(valueChain);
  // Sorting is stable: equal values keep the order of the chains, and within a chain that of the contracts.
  const tokens = valued.flatMap((chain) => chain.tokens).sort(byValue);
  const positions = valued.flatMap((chain) => chain.positions).sort(byValue);
  return {
    address: wallet,
    timestamp: new Date(takenAtMs).toISOString(),
    chains: chains.map(({ chain }) => chain.slug),
    summary: {
      ...totals({ tokens, positions }),
      stablecoinValueUsd: stablecoinTotal({ tokens, positions }),
      chains: valued.map(chainSummary),
      topHoldings: topHoldings(tokens),
      warnings: [...new Set(valued.flatMap(chainWarnings))],
    },
    tokens: tokens.map(({ shown }) => shown),
    positions: positions.map(({ shown }) => shown),
    recentActivity: recentActivity(chains),
    provider,
  };
}

type Valued = Pick<ValuedChain, "tokens" | "positions">;

function chainSummary(chain: ValuedChain): ChainSummary {
  return { chain: chain.parts.chain.slug, ...totals(chain) };
}

function totals({ tokens, positions }: Valued): Omit<ChainSummary, "chain"> {
  const counted = tokens.filter(counts);
  const priced = counted.filter(({ value }) => value !== null);
  return {
    totalValueUsd: usdText(sumKnown([...counted, ...positions].map(({ value }) => value))),
    pricedTokenCount: priced.length,
    unpricedTokenCount: counted.length - priced.length,
    tokenCount: counted.length,
  };
}

/** What is held in stablecoins, in the wallet and in positions, less what is owed in them. */
function stablecoinTotal({ tokens, positions }: Valued): string | null {
  const held = tokens.filter((token) => token.stable && counts(token)).map(({ value }) => value);
  return usdText(sumKnown([...held, ...positions.flatMap(({ stableValues }) => stableValues)]));
}

function topHoldings(tokens: readonly ValuedToken[]): readonly TopHolding[] {
  return tokens
    .filter(counts)
    .flatMap(({ shown: { chain, contract, symbol, name, valueUsd } }) =>
      valueUsd === null ? [] : [{ chain, contract, symbol, name, valueUsd }],
    )
    .slice(0, TOP_HOLDINGS_MAX);
}

function counts({ spamReasons }: ValuedToken): boolean {
  return spamReasons.length === 0;
}
