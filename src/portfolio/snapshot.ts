// Reads all requested chains of a wallet concurrently and values them together; if one chain fails, all do unless allowed.
import type { Clock } from "../lib/clock.ts";
import { Deadline } from "../lib/deadline.ts";
import type { Hex } from "../lib/hex.ts";
import type { PortfolioSnapshot } from "../schema/portfolio/snapshot.ts";
import { readGas } from "./account/gas.ts";
import { readAccount, UNKNOWN_ACCOUNT } from "./account/kind.ts";
import type { CrossCheckSource } from "./cross-check/cross-check.ts";
import { describeCrossCheck, startCrossCheck } from "./cross-check/cross-check.ts";
import { readHealth } from "./health/read-health.ts";
import { readName } from "./names/names.ts";
import { collectPositions, prefetchPositions } from "./positions/collect-positions.ts";
import {
  collectPrices,
  createProviderPriceSource,
  type PriceSourceGroups,
  prefetchPrices,
} from "./prices/collect-prices.ts";
import { addFailedChains, newestBlockMs, readPinnedChains, selectProvider } from "./read-pinned-chains.ts";
import { repeatReads } from "./repeated-reads.ts";
import { BUDGET_MS } from "./time-budgets.ts";
import { describeHoldings, readTokenMetadata } from "./tokens/metadata.ts";
import { describeByLists } from "./tokens/token-list.ts";
import type {
  FoundTokens,
  Holding,
  HoldingsProvider,
  HoldingsQuery,
  PinnedChain,
  PortfolioChain,
  PositionReader,
  WalletQuery,
} from "./types.ts";
import type { ChainData } from "./valuation/snapshot-data.ts";
import { findUnpricedReceiptTokens } from "./valuation/value-chain.ts";
import { valueSnapshot } from "./valuation/value-snapshot.ts";

export type SnapshotQuery = {
  readonly wallet: Hex;
  /** Distinct, in the order of the response. */
  readonly slugs: readonly string[];
  /** The block of every chain by its slug; absent for the newest ones. */
  readonly blocks?: ReadonlyMap<string, number> | undefined;
  /** Whether a chain that cannot be read is left out instead of failing the request. */
  readonly partial?: boolean | undefined;
  /** Leaves out what no difference shows: activity, kind and name of the account, gas and health of loans. */
  readonly figuresOnly?: boolean | undefined;
};

export type SnapshotReader = {
  /**
   * Rejects with PROVIDER_FAILED when a chain cannot be read in full, with INPUT_INVALID or STATE_UNAVAILABLE for a block
   * that it cannot be read at, or with the signal's reason.
   */
  read(query: SnapshotQuery, signal: AbortSignal): Promise<PortfolioSnapshot>;
};

export type SnapshotReaderOptions = ChainReaderOptions & {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  readonly readMsMax?: number;
};

export function createSnapshotReader(options: SnapshotReaderOptions): SnapshotReader {
  return {
    async read({ wallet, slugs, blocks, partial, figuresOnly }, signal) {
      const takenAtMs = options.clock.nowMs();
      const provider = selectProvider(options.provider, blocks);
      const read = (at: PinnedChain, abort: AbortSignal) =>
        readWalletData({ ...options, provider, figuresOnly }, { at, wallet }, abort);
      const failure = (name: string) => `The balances on ${name} could not be read in full.`;
      const query = { slugs, blocks, wallet, failure, partial, read };
      const { read: chains, failed } = await readPinnedChains(options, query, signal);
      const snapshot = valueSnapshot({
        wallet,
        takenAtMs: blocks ? newestBlockMs(chains) : takenAtMs,
        provider: provider.name,
        chains,
      });
      return addFailedChains(snapshot, { slugs, failed }, UNKNOWN_CHAIN);
    },
  };
}

const UNKNOWN_CHAIN = {
  what: "its value and all totals",
  ofChain: { totalValueUsd: null, pricedTokenCount: 0, unpricedTokenCount: 0, tokenCount: 0 },
  totals: { totalValueUsd: null, stablecoinValueUsd: null, unlistedValueUsd: null },
};

type ChainReaderOptions = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSourceGroups;
  readonly positionReaders: readonly PositionReader[];
  /** Reports differences from another source; it never changes what was read. */
  readonly crossCheck?: CrossCheckSource | null;
} & Pick<SnapshotQuery, "figuresOnly">;

/** Reads a wallet on one chain at one block. */
export async function readWalletData(
  options: ChainReaderOptions,
  query: WalletQuery,
  signal: AbortSignal,
): Promise<ChainData> {
  // Other sources know the present only.
  const crossCheck = query.at.asOf ? null : options.crossCheck;
  const compare = crossCheck ? startCrossCheck(crossCheck, query, signal) : null;
  const data = await readPinnedData(options, query, signal);
  if (compare === null) return data;
  const compared = await compare(data);
  return {
    ...data,
    crossCheck: compared,
    warnings: [...data.warnings, ...describeCrossCheck(data.chain.name, compared)],
  };
}

const UNREAD = {
  account: { account: UNKNOWN_ACCOUNT, warnings: [] },
  gas: { gas: null, warnings: [] },
  name: { name: null, warnings: [] },
  health: { health: [], warnings: [] },
} as const;

/** All that the wallet holds, as the contracts describe it. */
async function describeTokens(at: PinnedChain, found: FoundTokens, signal: AbortSignal) {
  const metadata = found.metadata
    ? describeHoldings(at.chain, found.holdings, found.metadata)
    : await readTokenMetadata(at, found.holdings, signal);
  return { metadata, holdings: metadata.holdings, transfers: found.transfers ?? [] };
}

/**
 * Reads the balances, and with the last of them what positions and prices ask first. The tokens are known before all
 * balances are read: a node that is slow to find transactions makes only the activity late.
 */
function readTokensEarly(
  { provider, priceSources, positionReaders }: ChainReaderOptions,
  query: HoldingsQuery,
  signal: AbortSignal,
) {
  const { at } = query;
  let [positions, prices]: Promise<unknown>[] = [];
  const asked = new Set<Hex | null>();
  const prefetchOnce = (holdings: readonly Holding[]) => {
    const assets = holdings.filter(({ contract }) => !asked.has(contract));
    for (const { contract } of assets) asked.add(contract);
    return prefetchPrices(priceSources, { at, assets }, signal);
  };
  const onHeld = (contracts: readonly Hex[]) => {
    const listed = contracts.filter((contract) => at.chain.tokens.has(contract));
    positions = prefetchPositions(positionReaders, { at, contracts }, signal);
    prices = prefetchOnce([null, ...listed].map((contract) => describeByLists(at.chain, contract, 0n)));
    // Awaited by the caller, unless the tokens fail.
    for (const early of [positions, prices]) early.catch(() => undefined);
  };
  let onTokens: (tokens: FoundTokens) => void = () => undefined;
  const found = new Promise<FoundTokens>((resolve) => {
    onTokens = resolve;
  });
  const balances = provider.read({ ...query, withMetadata: true, onHeld, onTokens }, signal);
  const describe = async () => {
    // A provider that finds nothing earlier has all of it at its end.
    const tokens = await describeTokens(at, await Promise.race([found, balances]), signal);
    await positions;
    return { ...tokens, prefetched: Promise.all([prices, prefetchOnce(tokens.holdings)]) };
  };
  return { balances, tokens: describe() };
}

/** When one part fails, the others stop instead of keeping the node busy. */
async function readPinnedData(
  options: ChainReaderOptions,
  query: WalletQuery,
  signal: AbortSignal,
): Promise<ChainData> {
  const deadline = new Deadline(null, signal);
  try {
    // Figures alone lead to fewer reads than a snapshot, which would forget the others.
    const { at, remember } = options.figuresOnly
      ? { at: query.at, remember: undefined }
      : repeatReads(query.at, query.wallet, deadline.signal);
    const data = await readParts(options, { ...query, at }, deadline.signal);
    deadline.end();
    remember?.();
    return data;
  } catch (error) {
    deadline.end(error);
    throw error;
  }
}

/** Balances and, as far as they do not need those, positions; then prices. */
async function readParts(
  options: ChainReaderOptions,
  { at, wallet }: WalletQuery,
  signal: AbortSignal,
): Promise<ChainData> {
  const { provider, priceSources, positionReaders, figuresOnly = false } = options;
  const query = { at, wallet, withoutActivity: figuresOnly };
  const { tokens, ...early } = readTokensEarly(options, query, signal);
  const [{ metadata }, balances, account, gas, name, positions] = await Promise.all([
    tokens,
    early.balances,
    figuresOnly ? UNREAD.account : readAccount({ at, wallet }, signal),
    figuresOnly ? UNREAD.gas : readGas(at, signal),
    figuresOnly ? UNREAD.name : readName({ at, wallet }, signal),
    collectPositions(positionReaders, { at, wallet, tokens }, signal),
    tokens.then(({ prefetched }) => prefetched),
  ]);
  const { holdings } = metadata;
  const receiptTokens = new Set(positions.positions.flatMap((position) => position.receiptTokens));
  const assets = [
    ...holdings.filter(({ contract }) => contract === null || !receiptTokens.has(contract)),
    ...positions.positions.flatMap((position) => position.assets),
    // The assets in which markets price others.
    ...positions.positions.flatMap((position) =>
      position.assets.flatMap(({ marketRate }) => (marketRate ? [marketRate.per] : [])),
    ),
  ];
  const sources = balances.prices
    ? [...priceSources, [createProviderPriceSource(provider.name, balances.prices)]]
    : priceSources;
  const [prices, health] = await Promise.all([
    collectPrices(sources, { at, assets, holder: { wallet, holdings } }, signal),
    figuresOnly ? UNREAD.health : readHealth({ at, wallet }, positions.positions, signal),
  ]);
  const data: ChainData = {
    chain: at.chain,
    block: at.block,
    account: account.account,
    gas: gas.gas,
    name: name.name,
    holdings,
    positions: positions.positions,
    health: health.health,
    unreadDebts: positions.unreadDebts,
    prices: prices.prices,
    incompletePrices: new Set([...prices.incompletePrices, ...positions.unmarketedTokens]),
    provenTokens: positions.provenTokens,
    activity: balances.activity,
    warnings: [account, balances, metadata, prices, positions, health, gas, name].flatMap(
      ({ warnings }) => warnings,
    ),
  };
  // Only now: nearly every position has a value of its own, and its receipt tokens then need no price.
  const receipts = findUnpricedReceiptTokens(data);
  if (receipts.length === 0) return data;
  const receiptPrices = await collectPrices(
    sources,
    { at, assets: receipts, holder: { wallet, holdings } },
    signal,
    BUDGET_MS.receiptPrices,
  );
  return {
    ...data,
    prices: new Map([...data.prices, ...receiptPrices.prices]),
    incompletePrices: new Set([...data.incompletePrices, ...receiptPrices.incompletePrices]),
    warnings: [...data.warnings, ...receiptPrices.warnings],
  };
}
