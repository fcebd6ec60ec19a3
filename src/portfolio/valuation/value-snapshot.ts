// Builds the response from the data of all chains: valued, sorted and summed, with warnings.
import { keepNewest } from "../providers/activity.ts";
import type { ChainSummary, PortfolioSnapshot, RecentActivity, TopHolding } from "../snapshot-types.ts";
import type { ChainData, SnapshotData } from "./snapshot-data.ts";
import { formatSeconds, validSeconds } from "./time.ts";
import { compareByValue, formatUsdValue, sumKnownValues } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";

/** Newest first over all chains; entries without a time come last, and equal times keep the order of their chain. */
function listRecentActivity(chains: readonly ChainData[]): readonly RecentActivity[] {
  const newestFirst = chains
    .flatMap(({ chain, activity }) => activity.map((entry) => ({ ...entry, chain: chain.slug })))
    .map((entry) => ({ ...entry, seconds: validSeconds(entry.timestamp) }))
    .sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1));
  return keepNewest(newestFirst).map(
    ({ chain, hash, from, to, blockNumber, seconds, sender, lookalike }) => ({
      ...{ chain, hash, from, to, blockNumber },
      timestamp: formatSeconds(seconds),
      ...{ sender, lookalike },
    }),
  );
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

// A wallet with thousands of broken tokens must not drown the important warnings.
const READER_WARNINGS_MAX = 25;
// Keeps a warning readable; the list of tokens in the response is complete.
const ADDRESSES_MAX = 50;

/** Warnings never contain token names, because anyone may choose those. */
function describeChainWarnings({
  data,
  tokens,
  positions,
  shownAsReceiptTokens,
}: ValuedChain): readonly string[] {
  const { chain, block, warnings } = data;
  const counted = tokens.filter(({ spamReasons }) => spamReasons.length === 0);
  const withoutDecimals = counted.filter(({ token }) => token.decimals === null);
  const unpriced = counted.filter(({ token }) => token.decimals !== null && token.priceUsd === null);
  const unvalued = positions.filter(({ value }) => value === null);
  return [
    `${chain.name} was read at block ${block.number} (${block.hash}).`,
    ...limitWarnings(chain.name, warnings),
    ...describeTokens(unpriced, `have no known price on ${chain.name} and are missing in its totals`),
    ...describeTokens(
      withoutDecimals,
      `do not state their decimals on ${chain.name}: only the raw balance is known`,
    ),
    ...unvalued.map(
      ({ position }) =>
        `A position in ${position.protocol} on ${chain.name} holds an asset without a known price: it has no value and is missing in the totals.`,
    ),
    ...shownAsReceiptTokens.map(
      ({ protocol }) =>
        `Positions in ${protocol} on ${chain.name} cannot be valued in full: their receipt tokens, which can, are shown as tokens instead.`,
    ),
    ...describeSpam(chain.name, tokens),
  ];
}

function limitWarnings(chainName: string, warnings: readonly string[]): readonly string[] {
  const distinct = [...new Set(warnings)];
  const omitted = distinct.length - READER_WARNINGS_MAX;
  if (omitted <= 0) return distinct;
  return [
    ...distinct.slice(0, READER_WARNINGS_MAX),
    `${omitted} more warnings about ${chainName} are left out here.`,
  ];
}

function describeTokens(tokens: readonly ValuedToken[], what: string): readonly string[] {
  return tokens.length === 0 ? [] : [`These tokens ${what}: ${formatAddresses(tokens)}.`];
}

/** One warning per reason, so that their number does not grow with the spam. */
function describeSpam(chainName: string, tokens: readonly ValuedToken[]): readonly string[] {
  const reasons = new Set(tokens.flatMap(({ spamReasons }) => spamReasons));
  return [...reasons].sort().map((reason) => {
    const matching = tokens.filter(({ spamReasons }) => spamReasons.includes(reason));
    return `Classified as spam on ${chainName} and not counted: ${formatAddresses(matching)}. ${reason}`;
  });
}

function formatAddresses(tokens: readonly ValuedToken[]): string {
  const named = tokens.slice(0, ADDRESSES_MAX).map(({ token }) => token.contract ?? "the native coin");
  const omitted = tokens.length - named.length;
  return omitted > 0 ? `${named.join(", ")} and ${omitted} more` : named.join(", ");
}
