// Compound v2 and its forks: what a wallet supplied and borrowed in each market of a comptroller, interest included.

import { decodeAddress, decodeTokenAmount, decodeWord, decodeWords } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach, toAddressArray } from "../../contract-reads/reads.ts";
import {
  type Asset,
  type PositionAsset,
  type PositionQuery,
  type PositionReader,
  type ProtocolPosition,
  quotePrice,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { declareIsPricing, hasPinnedFeed } from "../market-price.ts";
import { createLendingReader, type ReadMarkets } from "../market-reader.ts";
import type { CompoundV2Pool, CompoundV2Protocol } from "./pool.ts";

type CompoundV2Pools = ReadonlyMap<number, readonly CompoundV2Pool[]>;

export function createCompoundV2Reader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "compound-v2", title: "Compound v2" }, pools);
}

export function createMoonwellReader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "moonwell", title: "Moonwell" }, pools);
}

/** Venus has several pools on each chain. */
export function createVenusReader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "venus", title: "Venus", hasDelegates: true }, pools);
}

/** More than any comptroller lists: each account check walks through the markets of a wallet. */
const MARKETS_MAX = 200;
/** An oracle's price has so many decimals together with the underlying token. */
const PRICE_DECIMALS = 36;

const getAllMarkets = defineRead("function getAllMarkets()", toAddressArray(MARKETS_MAX));
const getAccountSnapshot = defineRead("function getAccountSnapshot(address)", decodeUse);
// Both add the interest up to the block, which a call may do without changing anything.
const balanceOfUnderlying = defineRead("function balanceOfUnderlying(address)", decodeTokenAmount);
const borrowBalanceCurrent = defineRead("function borrowBalanceCurrent(address)", decodeTokenAmount);
const underlying = defineRead("function underlying()", decodeAddress);
const oracle = defineRead("function oracle()", decodeAddress);
const getUnderlyingPrice = defineRead("function getUnderlyingPrice(address)", decodeWord);

type Market = { readonly pool: CompoundV2Pool; readonly market: Hex };
/** A market that the wallet may use: with a balance or a debt, or not in our data. */
type Account = Market & { readonly supplied: bigint; readonly borrowed: bigint; readonly asset: Hex | null };

/** The input of every step of one read. */
type ReadContext = CompoundV2Protocol & {
  readonly query: PositionQuery;
  readonly signal: AbortSignal;
  /** Collects what could not be read, and in which pools. */
  readonly warnings: string[];
  readonly incomplete: Set<CompoundV2Pool>;
  /** Pools of which the wallet's use of a market could be read. */
  readonly readable: Set<CompoundV2Pool>;
};

function createForkReader(kind: CompoundV2Protocol, poolsByChain: CompoundV2Pools): PositionReader {
  const read: ReadMarkets<CompoundV2Pool> = async (query, pools, signal) => {
    const context: ReadContext = {
      ...{ ...kind, query, signal, warnings: [], incomplete: new Set(), readable: new Set() },
    };
    const { warnings, incomplete, readable } = context;
    const markets = await findMarkets(context, pools);
    const isRead = [...incomplete].every((pool) => readable.has(pool));
    const unread = isRead ? {} : ({ hasUnreadDebt: true } as const);
    if (markets.length === 0) return { positions: [], warnings, ...unread };
    const { accounts, oracles } = await readAccounts(context, markets);
    const { assets, prices } = await readAssets(context, accounts, oracles);
    const positions = accounts.flatMap((account) => createPositions(context, account, assets, prices));
    return { positions, warnings, ...unread };
  };
  return createLendingReader(kind.protocol, poolsByChain, read, ({ comptroller }) =>
    kind.hasDelegates ? [{ form: "venus", protocol: kind.protocol, contract: comptroller }] : [],
  );
}

/** First trip: the markets of our data in which the wallet has something, and those that our data lacks. */
async function findMarkets(
  context: ReadContext,
  pools: readonly CompoundV2Pool[],
): Promise<readonly Market[]> {
  const { at, wallet } = context.query;
  const known = pools.flatMap((pool) => pool.markets.map((market) => ({ pool, market })));
  const read = await readGroups(at, context.signal, {
    lists: joinEach(pools, ({ comptroller }) => getAllMarkets(comptroller)),
    uses: joinEach(known, ({ market }) => getAccountSnapshot(market, [wallet])),
  });
  const lists = new Map(read.lists);
  for (const [pool, list] of lists)
    if (list === null)
      warn(context, pool, `${pool.name} did not list its markets; positions in new ones may be missing.`);
  const used = read.uses.flatMap(([{ pool, market }, isUsed]): Market[] => {
    // A contract that the comptroller does not list is not a market: its data may be of another chain.
    if (lists.get(pool)?.includes(market) === false) return [];
    if (isUsed === null) warnUnreadable(context, pool, market);
    else context.readable.add(pool);
    return isUsed ? [{ pool, market }] : [];
  });
  const added = pools.flatMap((pool) =>
    (lists.get(pool) ?? [])
      .filter((market) => !pool.markets.includes(market))
      .map((market) => ({ pool, market })),
  );
  return [...used, ...added];
}

/**
 * Whether a wallet has shares or a debt, in which case more is asked; null when that could not be read. The words are an
 * error code, the shares, the debt and the exchange rate, as of the last time that interest was added.
 */
function decodeUse(data: Hex | null): boolean | null {
  const [error, shares, borrowed] = decodeWords(data, 4) ?? [];
  return error === 0n ? shares !== 0n || borrowed !== 0n : null;
}

type Accounts = {
  readonly accounts: readonly Account[];
  readonly oracles: ReadonlyMap<CompoundV2Pool, Hex>;
};

/** Second trip: the balances with interest, the underlying token of each market, and the comptrollers' oracles. */
async function readAccounts(context: ReadContext, markets: readonly Market[]): Promise<Accounts> {
  const { at, wallet } = context.query;
  const pools = [...new Set(markets.map(({ pool }) => pool))];
  const read = await readGroups(at, context.signal, {
    oracles: joinEach(pools, ({ comptroller }) => oracle(comptroller)),
    accounts: joinEach(markets, ({ market }) => ({
      supplied: balanceOfUnderlying(market, [wallet]),
      borrowed: borrowBalanceCurrent(market, [wallet]),
      token: underlying(market),
    })),
  });
  const accounts = read.accounts.flatMap(([{ pool, market }, { supplied, borrowed, token }]): Account[] => {
    const asset = market === pool.nativeMarket ? null : token;
    if (supplied === null || borrowed === null || (asset === null && market !== pool.nativeMarket)) {
      warnUnreadable(context, pool, market);
      return [];
    }
    return supplied + borrowed === 0n ? [] : [{ pool, market, supplied, borrowed, asset }];
  });
  const oracles = read.oracles.flatMap(([pool, address]) => (address ? [[pool, address] as const] : []));
  return { accounts, oracles: new Map(oracles) };
}

/** The prices of the pool's oracle, by market. */
type OraclePrices = ReadonlyMap<Hex, { readonly units: bigint; readonly oracle: Hex }>;

/** Third trip: the metadata of the underlying tokens, and the prices of those without a feed of their own. */
async function readAssets(
  context: ReadContext,
  accounts: readonly Account[],
  oracles: Accounts["oracles"],
): Promise<{ readonly assets: Assets; readonly prices: OraclePrices }> {
  const { at } = context.query;
  const contracts = accounts.flatMap(({ asset }) => asset ?? []);
  const unpriced = accounts.flatMap(({ pool, market, asset }) => {
    const address = oracles.get(pool);
    const isPriced = hasPinnedFeed(at.chain.chainId, asset);
    return address === undefined || isPriced ? [] : [{ market, oracle: address }];
  });
  const { isPricing, prices, assets } = await readGroups(at, context.signal, {
    isPricing: unpriced.length === 0 ? null : declareIsPricing(at),
    prices: joinEach(unpriced, ({ market, oracle: address }) => getUnderlyingPrice(address, [market])),
    assets: declareAssets(context.query, contracts),
  });
  // Zero is how an oracle says that it does not know.
  const known = prices.flatMap(([{ market, oracle: address }, units]) =>
    units ? [[market, { units, oracle: address }] as const] : [],
  );
  return { assets, prices: new Map(isPricing ? known : []) };
}

function createPositions(
  { protocol, query, incomplete }: ReadContext,
  { pool, market, supplied, borrowed, asset: contract }: Account,
  assets: Assets,
  prices: OraclePrices,
): readonly ProtocolPosition[] {
  const { native } = query.at.chain;
  const asset = contract === null ? { ...native, contract, logo: null } : getAsset(assets, contract);
  const position = (kind: "supplied" | "borrowed", rawBalance: bigint): ProtocolPosition => ({
    protocol,
    kind,
    name: asset.symbol === null ? pool.name : `${pool.name}: ${asset.symbol}`,
    contract: market,
    market: pool.comptroller,
    ...(incomplete.has(pool) ? { incomplete: true } : {}),
    assets: [{ ...asset, rawBalance, ...findMarketPrice(protocol, asset, prices.get(market)) }],
    // The market is its own receipt token, for what is supplied.
    receiptTokens: kind === "supplied" ? [market] : [],
  });
  return [
    ...(supplied > 0n ? [position("supplied", supplied)] : []),
    ...(borrowed > 0n ? [position("borrowed", borrowed)] : []),
  ];
}

function findMarketPrice(
  protocol: string,
  { decimals }: Asset,
  price: { readonly units: bigint; readonly oracle: Hex } | undefined,
): Pick<PositionAsset, "marketPrice"> {
  if (price === undefined || decimals === null || decimals > PRICE_DECIMALS) return {};
  const usd = { units: price.units, scale: PRICE_DECIMALS - decimals };
  return { marketPrice: { ...quotePrice(usd, { contract: price.oracle }), source: protocol } };
}

function warnUnreadable(context: ReadContext, pool: CompoundV2Pool, market: Hex): void {
  const { name } = context.query.at.chain;
  warn(context, pool, `Balances in the ${context.title} market ${market} on ${name} could not be read.`);
}

function warn({ warnings, incomplete }: ReadContext, pool: CompoundV2Pool, warning: string): void {
  warnings.push(warning);
  incomplete.add(pool);
}
