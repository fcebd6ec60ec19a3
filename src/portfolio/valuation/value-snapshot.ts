// Builds the response from the data of all chains: valued, sorted and summed.
import type { ChainSummary, PortfolioSnapshot, RecentActivity, TopHolding } from "../snapshot-types.ts";
import { ACTIVITY_MAX } from "../types.ts";
import type { ChainData, SnapshotData } from "./snapshot-data.ts";
import { compareByValue, formatUsdValue, sumKnownValues } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";
import { describeChainWarnings } from "./warnings.ts";

// The last second that an ECMAScript Date can represent.
const SECONDS_MAX = 8_640_000_000_000;

/** Newest first over all chains; entries without a time come last, and equal times keep the order of their chain. */
function listRecentActivity(chains: readonly ChainData[]): readonly RecentActivity[] {
  return chains
    .flatMap(({ chain, activity }) => activity.map((entry) => ({ ...entry, chain: chain.slug })))
    .map((entry) => ({ ...entry, seconds: validSeconds(entry.timestamp) }))
    .sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1))
    .slice(0, ACTIVITY_MAX)
    .map(({ chain, hash, from, to, blockNumber, seconds }) => ({
      ...{ chain, hash, from, to, blockNumber },
      timestamp: seconds === null ? null : new Date(seconds * 1000).toISOString(),
    }));
}

function validSeconds(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}

/** Removes spam from the list of tokens; the totals never include it. */
export function excludeSpam(snapshot: PortfolioSnapshot): PortfolioSnapshot {
  return { ...snapshot, tokens: snapshot.tokens.filter(({ spam }) => !spam) };
}

const TOP_HOLDINGS_MAX = 10;

export function valueSnapshot({ wallet, takenAtMs, provider, chains }: SnapshotData): PortfolioSnapshot {
  const valued = chains.map(valueChain);
  // The sort is stable: equal values stay in the order of chains, then contracts.
  const tokens = valued.flatMap((chain) => chain.tokens).sort(compareByValue);
  const positions = valued.flatMap((chain) => chain.positions).sort(compareByValue);
  return {
    address: wallet,
    timestamp: new Date(takenAtMs).toISOString(),
    chains: chains.map(({ chain }) => chain.slug),
    summary: {
      ...computeTotals({ tokens, positions }),
      stablecoinValueUsd: computeStablecoinTotal({ tokens, positions }),
      chains: valued.map(summarizeChain),
      topHoldings: listTopHoldings(tokens),
      warnings: [...new Set(valued.flatMap(describeChainWarnings))],
    },
    tokens: tokens.map(({ token }) => token),
    positions: positions.map(({ position }) => position),
    recentActivity: listRecentActivity(chains),
    provider,
  };
}

type Valued = Pick<ValuedChain, "tokens" | "positions">;

function summarizeChain(chain: ValuedChain): ChainSummary {
  return { chain: chain.data.chain.slug, ...computeTotals(chain) };
}

function computeTotals({ tokens, positions }: Valued): Omit<ChainSummary, "chain"> {
  const counted = tokens.filter(isCounted);
  const priced = counted.filter(({ value }) => value !== null);
  return {
    totalValueUsd: formatUsdValue(sumKnownValues([...counted, ...positions].map(({ value }) => value))),
    pricedTokenCount: priced.length,
    unpricedTokenCount: counted.length - priced.length,
    tokenCount: counted.length,
  };
}

/** Stablecoins in the wallet and in positions, less stablecoin debt. */
function computeStablecoinTotal({ tokens, positions }: Valued): string | null {
  const inWallet = tokens.filter((token) => token.isStablecoin && isCounted(token)).map(({ value }) => value);
  const inPositions = positions.flatMap(({ stablecoinValues }) => stablecoinValues);
  return formatUsdValue(sumKnownValues([...inWallet, ...inPositions]));
}

function listTopHoldings(tokens: readonly ValuedToken[]): readonly TopHolding[] {
  return tokens
    .filter(isCounted)
    .flatMap(({ token: { chain, contract, symbol, name, valueUsd } }) =>
      valueUsd === null ? [] : [{ chain, contract, symbol, name, valueUsd }],
    )
    .slice(0, TOP_HOLDINGS_MAX);
}

function isCounted({ spamReasons }: ValuedToken): boolean {
  return spamReasons.length === 0;
}
