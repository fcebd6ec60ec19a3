// Builds the response from the data of all chains: valued, sorted and summed, with warnings.
import { formatAmount } from "../../lib/decimal.ts";
import { keepPresent, nameFirst } from "../../lib/lists.ts";
import type {
  ChainSummary,
  PortfolioAsset,
  PortfolioSnapshot,
  PortfolioToken,
  RecentActivity,
  TopHolding,
} from "../../schema/portfolio/snapshot.ts";
import { keepNewest } from "../providers/activity.ts";
import type { AssetKey, ChainConfig, WalletActivity } from "../types.ts";
import { describeGas, describeUnpricedLoans, identifyChain, listHealth } from "./describe-account.ts";
import type { SnapshotData } from "./snapshot-data.ts";
import { compareByValue, formatUnixSeconds, formatUsdValue, sumKnownValues, validSeconds } from "./usd.ts";
import { type ValuedChain, type ValuedToken, valueChain } from "./value-chain.ts";

/** Newest first over all chains; entries without a time come last, and equal times keep the order of their chain. */
function listRecentActivity({ wallet, chains }: SnapshotData): readonly RecentActivity[] {
  const newestFirst = chains
    .flatMap(({ chain, activity }) =>
      activity.map((entry) => ({
        seconds: validSeconds(entry.timestamp) ?? -1,
        shown: describeActivity(chain, entry),
      })),
    )
    .sort((a, b) => b.seconds - a.seconds);
  return keepNewest(
    wallet,
    newestFirst.map(({ shown }) => shown),
  );
}

function describeActivity(chain: ChainConfig, entry: WalletActivity): RecentActivity {
  const { hash, from, to, blockNumber, timestamp, sender, lookalike } = entry;
  return {
    chain: chain.slug,
    hash,
    from,
    to,
    blockNumber,
    timestamp: formatUnixSeconds(timestamp),
    sender,
    lookalike,
    transfer: describeTransfer(chain, entry.transfer),
  };
}

/** Named by the lists only: what a contract calls itself is not read for this. */
function describeTransfer(
  { native, tokens }: ChainConfig,
  transfer: WalletActivity["transfer"],
): RecentActivity["transfer"] {
  if (transfer === null) return null;
  const { contract, rawAmount } = transfer;
  const asset = contract === null ? native : tokens.get(contract);
  const decimals = asset?.decimals ?? null;
  return {
    contract,
    symbol: asset?.symbol ?? null,
    decimals,
    rawAmount: rawAmount.toString(),
    amount: decimals === null ? null : formatAmount(rawAmount, decimals),
  };
}

/** Removes spam from the list of tokens and from the counts of that list; the totals never include it. */
export function excludeSpam(snapshot: PortfolioSnapshot): PortfolioSnapshot {
  const tokens = snapshot.tokens.filter(({ spam }) => !spam);
  const excludedCount = snapshot.tokens.length - tokens.length;
  if (excludedCount === 0) return snapshot;
  const { summary } = snapshot;
  const chains = summary.chains.map((chain) => ({
    ...chain,
    ...countTokens(tokens.filter((token) => token.chain === chain.chain)),
  }));
  const excluded = excludedCount === 1 ? "1 token" : `${excludedCount} tokens`;
  const [verb, them] = excludedCount === 1 ? ["is", "it"] : ["are", "them"];
  const warnings = [
    ...summary.warnings,
    `${excluded} marked as spam ${verb} not listed: spam=include lists ${them}.`,
  ];
  return { ...snapshot, summary: { ...summary, ...countTokens(tokens), chains, warnings }, tokens };
}

const TOP_HOLDINGS_MAX = 10;

export function valueSnapshot(data: SnapshotData): PortfolioSnapshot {
  const { wallet, takenAtMs, provider, chains } = data;
  const valued = chains.map(valueChain);
  // The sort is stable: equal values stay in the order of chains, then contracts.
  const tokens = valued.flatMap((chain) => chain.tokens).sort(compareByValue);
  const positions = valued.flatMap((chain) => chain.positions).sort(compareByValue);
  return {
    address: wallet,
    timestamp: new Date(takenAtMs).toISOString(),
    chains: chains.map(({ chain }) => chain.slug),
    summary: {
      totalValueUsd: computeTotal({ tokens, positions }, valued.some(isTotalUnknown)),
      ...countTokens(tokens.map(({ token }) => token)),
      stablecoinValueUsd: computeStablecoinTotal({ tokens, positions }),
      chains: valued.map(summarizeChain),
      topHoldings: listTopHoldings({ tokens, positions }),
      warnings: [...new Set(valued.flatMap(describeChainWarnings))],
      unlistedValueUsd: computeUnlistedTotal({ tokens, positions }),
    },
    tokens: tokens.map(({ token }) => token),
    positions: positions.map(({ position }) => position),
    recentActivity: listRecentActivity(data),
    provider,
    accounts: chains.map(({ chain, account }) => ({ ...identifyChain(chain), ...account })),
    health: chains.flatMap(listHealth),
    gas: chains.map(describeGas),
    name: findName(data),
    blocks: chains.map(({ chain, block }) => ({
      chain: chain.slug,
      number: block.number,
      hash: block.hash,
    })),
    ...listCrossChecks(data),
  };
}

/** Names of Ethereum are the older ones, and known to more programs. */
function findName({ chains }: SnapshotData): string | null {
  const named = chains.filter(({ name }) => name !== null);
  return (named.find(({ chain }) => chain.chainId === 1) ?? named[0])?.name ?? null;
}

function listCrossChecks({ chains }: SnapshotData): Pick<PortfolioSnapshot, "crossCheck"> {
  const crossCheck = chains.flatMap((chain) => chain.crossCheck ?? []);
  return crossCheck.length === 0 ? {} : { crossCheck };
}

type Valued = Pick<ValuedChain, "tokens" | "positions">;

function summarizeChain(chain: ValuedChain): ChainSummary {
  return {
    chain: chain.data.chain.slug,
    totalValueUsd: computeTotal(chain, isTotalUnknown(chain)),
    ...countTokens(chain.tokens.map(({ token }) => token)),
  };
}

/** A debt is not valued together with what secures it, or may exist unseen. */
function isTotalUnknown({ unknownAccounts, data: { unreadDebts } }: ValuedChain): boolean {
  return unknownAccounts.size > 0 || unreadDebts.size > 0;
}

/** Null when it is unknown, or when nothing has a price. */
function computeTotal({ tokens, positions }: Valued, isUnknown: boolean): string | null {
  const values = [...tokens.filter(isCounted), ...positions].map(({ value }) => value);
  return isUnknown ? null : formatUsdValue(sumKnownValues(values));
}

/** Counts what the list shows, so that a client can check the one by the other. */
function countTokens(
  tokens: readonly Pick<PortfolioToken, "valueUsd">[],
): Omit<ChainSummary, "chain" | "totalValueUsd"> {
  const pricedTokenCount = tokens.filter(({ valueUsd }) => valueUsd !== null).length;
  return {
    pricedTokenCount,
    unpricedTokenCount: tokens.length - pricedTokenCount,
    tokenCount: tokens.length,
  };
}

/** Stablecoins that are held, in the wallet and in positions; what is owed is part of the total. */
function computeStablecoinTotal({ tokens, positions }: Valued): string | null {
  const inWallet = tokens.filter((token) => token.isStablecoin && isCounted(token)).map(({ value }) => value);
  const inPositions = positions.flatMap(({ stablecoinValues }) => stablecoinValues);
  return formatUsdValue(sumKnownValues([...inWallet, ...inPositions]));
}

/** How much of the total rests on prices of tokens that no list has. */
function computeUnlistedTotal({ tokens, positions }: Valued): string {
  const values = [
    ...tokens.filter(isCounted).map(({ unlistedValue }) => unlistedValue),
    ...positions.flatMap(({ unlistedValues }) => unlistedValues),
  ].filter((value) => value !== null);
  return formatUsdValue(sumKnownValues(values)) ?? "0";
}

function listTopHoldings({ tokens, positions }: Valued): readonly TopHolding[] {
  const held = [
    ...tokens.filter(isCounted).map(({ token: { chain, contract, symbol, name }, value }) => ({
      chain,
      contract,
      symbol,
      name,
      value,
    })),
    ...positions
      .filter(({ account }) => !account.isDebt)
      .map(({ position: { chain, contract, name, assets }, value }) => ({
        chain,
        contract,
        symbol: describeAssets(assets),
        name,
        value,
      })),
  ];
  return held
    .sort(compareByValue)
    .slice(0, TOP_HOLDINGS_MAX)
    .flatMap(({ value, ...holding }) => {
      const valueUsd = formatUsdValue(value);
      return valueUsd === null ? [] : [{ ...holding, valueUsd }];
    });
}

/** The symbols of a position, such as WETH/USDC; null when one is unknown. */
function describeAssets(assets: readonly PortfolioAsset[]): string | null {
  const symbols = assets.map(({ symbol }) => symbol);
  return symbols.includes(null) ? null : symbols.join("/");
}

function isCounted({ spamReasons }: ValuedToken): boolean {
  return spamReasons.length === 0;
}

// A wallet with thousands of broken tokens must not drown the important warnings.
const READER_WARNINGS_MAX = 25;
// Keeps a warning readable; the list of tokens in the response is complete.
const ADDRESSES_MAX = 50;

/** Warnings never contain token names, because anyone may choose those. */
function describeChainWarnings(valued: ValuedChain): readonly string[] {
  const { chain, block, warnings } = valued.data;
  return [
    `${chain.name} was read at block ${block.number} (${block.hash}).`,
    ...limitWarnings(chain.name, warnings),
    ...describeUnknown(valued),
    ...describeUnpricedLoans(valued.data),
    ...describeUnpriced(valued),
    ...describeSelfReported(valued),
    ...describeSpam(chain.name, valued.tokens),
  ];
}

/** Warnings about what makes a total unknown or smaller than balance × price. */
function describeUnknown({
  data: { chain, unreadDebts },
  unknownAccounts,
  limitedAssets,
}: ValuedChain): readonly string[] {
  return keepPresent(
    ...[...unreadDebts].map(
      (protocol) =>
        `The total value on ${chain.name} is unknown: what the wallet may owe in ${protocol} could not be read.`,
    ),
    ...[...unknownAccounts].map(
      (protocol) =>
        `The total value on ${chain.name} is unknown: the wallet owes in ${protocol}, or may, and not everything that it holds or owes there has a known value.`,
    ),
    limitedAssets.size > 0 &&
      `The markets behind the prices of these assets on ${chain.name} could, as far as is known, pay less than balance × price, and their values are limited to that: ${formatAddresses([...limitedAssets])}.`,
  );
}

/** Warnings about holdings without a value, or with only a part of it. */
function describeUnpriced({
  data: { chain },
  tokens,
  positions,
  shownAsReceiptTokens,
}: ValuedChain): readonly string[] {
  const counted = tokens.filter(isCounted);
  const withoutDecimals = counted.filter(({ token }) => token.decimals === null);
  const unpriced = counted.filter(({ token }) => token.decimals !== null && token.priceUsd === null);
  return [
    ...describeTokens(unpriced, `have no known price on ${chain.name} and are missing in its totals`),
    ...describeTokens(
      withoutDecimals,
      `do not state their decimals on ${chain.name}: only the raw balance is known`,
    ),
    ...positions
      .filter(({ value }) => value === null)
      .map(
        ({ position }) =>
          `A position in ${position.protocol} on ${chain.name} holds an asset without a known price or payout: it has no value and is missing in the totals.`,
      ),
    ...positions
      .filter(({ position }) => position.partial)
      .map(
        ({ position }) =>
          `A position in ${position.protocol} on ${chain.name} is valued in part: an asset without a known price is missing in it and in the totals.`,
      ),
    ...shownAsReceiptTokens.map(
      ({ protocol }) =>
        `Positions in ${protocol} on ${chain.name} cannot be valued in full: their receipt tokens, which can, are shown as tokens instead.`,
    ),
  ];
}

/** Warnings about positions that only a token list vouches for. */
function describeSelfReported({ data: { chain }, positions }: ValuedChain): readonly string[] {
  const vaults = positions.flatMap(({ position }) =>
    position.selfReported && position.contract !== null ? [position.contract] : [],
  );
  if (vaults.length === 0) return [];
  return [
    `Only a token list vouches for these vaults on ${chain.name}: they count with what they could pay out now, and not as stablecoins: ${formatAddresses(vaults)}.`,
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
  return tokens.length === 0 ? [] : [`These tokens ${what}: ${formatAddresses(keysOf(tokens))}.`];
}

/** One warning per reason, so that their number does not grow with the spam. */
function describeSpam(chainName: string, tokens: readonly ValuedToken[]): readonly string[] {
  const reasons = new Set(tokens.flatMap(({ spamReasons }) => spamReasons));
  return [...reasons].sort().map((reason) => {
    const matching = tokens.filter(({ spamReasons }) => spamReasons.includes(reason));
    return `Classified as spam on ${chainName} and not counted: ${formatAddresses(keysOf(matching))}. ${reason}`;
  });
}

function keysOf(tokens: readonly ValuedToken[]): readonly AssetKey[] {
  return tokens.map(({ key }) => key);
}

function formatAddresses(assets: readonly AssetKey[]): string {
  return nameFirst(
    assets.map((key) => (key === "native" ? "the native coin" : key)),
    ADDRESSES_MAX,
  );
}
