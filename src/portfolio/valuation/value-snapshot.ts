// The parts of a wallet become the answer: valued, ordered, added up.
import type { ChainSummary, PortfolioSnapshot, RecentActivity, TopHolding } from "../snapshot-types.ts";
import { ACTIVITY_MAX } from "../types.ts";
import type { ChainData, SnapshotData } from "./snapshot-data.ts";
import { compareByValue, formatUsdValue, sumKnownValues } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";
import { describeChainWarnings } from "./warnings.ts";

// The newest transactions of a wallet over all its chains.

// The last second that a date of ECMAScript can show.
const SECONDS_MAX = 8_640_000_000_000;

/** Newest first; what has no time comes last, and within one second each chain keeps the order it gave. */
export function listRecentActivity(chains: readonly ChainData[]): readonly RecentActivity[] {
  return chains
    .flatMap(({ chain, activity }) => activity.map((entry) => ({ ...entry, chain: chain.slug })))
    .map((entry) => ({ ...entry, seconds: soundSeconds(entry.timestamp) }))
    .sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1))
    .slice(0, ACTIVITY_MAX)
    .map(({ chain, hash, from, to, blockNumber, seconds }) => ({
      ...{ chain, hash, from, to, blockNumber },
      timestamp: seconds === null ? null : new Date(seconds * 1000).toISOString(),
    }));
}

function soundSeconds(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}

// A view of a snapshot for those who do not want to see spam; it never was in the totals.

export function excludeSpam(snapshot: PortfolioSnapshot): PortfolioSnapshot {
  return { ...snapshot, tokens: snapshot.tokens.filter(({ spam }) => !spam) };
}

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
