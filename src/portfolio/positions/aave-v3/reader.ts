// Aave and its forks: what a wallet supplied and borrowed, by its balances of every reserve's receipt and debt tokens.

import { decodeWord, decodeWords, wordToAddress } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach, toAddressArray } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Delegation, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createLendingReader, type ReadMarkets } from "../market-reader.ts";
import type { AaveMarket, AaveProtocol } from "./market.ts";
import { declareOraclePrices, type FeedAgeReads, reserveKey } from "./oracle.ts";

type AaveMarkets = ReadonlyMap<number, readonly AaveMarket[]>;

const V3_LAYOUT = { words: 15, aToken: 8, debtToken: 10, stableDebtToken: null };

export function createAaveV3Reader(markets: AaveMarkets): PositionReader {
  return createAaveReader({ protocol: "aave-v3", title: "Aave v3", layout: V3_LAYOUT }, markets);
}

/** A fork of Aave v3 before its version 3.1. It has contracts for debt at a stable rate, which was never enabled. */
export function createSparkReader(markets: AaveMarkets): PositionReader {
  return createAaveReader({ protocol: "spark", title: "SparkLend", layout: V3_LAYOUT }, markets);
}

/** The reader of v3 with other words, and debt at a stable rate. */
export function createAaveV2Reader(markets: AaveMarkets): PositionReader {
  const layout = { words: 12, aToken: 7, debtToken: 9, stableDebtToken: 8 };
  return createAaveReader({ protocol: "aave-v2", title: "Aave v2", layout }, markets);
}

/** A pool stores a user's reserves in one word, two bits each, so there are never more. */
const RESERVES_MAX = 128;

export const getReservesList = defineRead("function getReservesList()", toAddressArray(RESERVES_MAX));
export const getReserveData = defineRead("function getReserveData(address)", (data) => data);
const getUserConfiguration = defineRead("function getUserConfiguration(address)", decodeWord);

/** A reserve that our data lacks, or whose debt at a stable rate it lacks. */
type UnreadReserve = {
  readonly market: AaveMarket;
  readonly underlying: Hex;
  readonly isNew: boolean;
};
/** A token whose balance is what the wallet supplied or owes. */
type ReserveToken = {
  readonly market: AaveMarket;
  readonly underlying: Hex;
  readonly token: Hex;
  readonly kind: "supplied" | "borrowed" | "borrowed at a stable rate";
};
type Balance = ReserveToken & { readonly amount: bigint };

/** The input of every step of one read. */
type ReadContext = AaveProtocol & {
  readonly query: PositionQuery;
  readonly signal: AbortSignal;
  /** Collects what could not be read, and in which markets. */
  readonly warnings: string[];
  readonly incomplete: Set<AaveMarket>;
  /** Markets of which a balance could be read. */
  readonly readable: Set<AaveMarket>;
};

/**
 * One round trip for the reserves in our data. The same trip reads the pool's list of reserves, because a debt in a
 * newer reserve would make a wallet look richer than it is; new reserves, and prices that only the market knows, cost two
 * more trips.
 */
function createAaveReader(kind: AaveProtocol, marketsByChain: AaveMarkets): PositionReader {
  const read: ReadMarkets<AaveMarket> = async (query, markets, signal) => {
    const context: ReadContext = {
      ...{ ...kind, query, signal, warnings: [], incomplete: new Set(), readable: new Set() },
    };
    const known = await readKnownReserves(context, markets);
    const added = await readUnreadReserves(context, known.balances, known.unread);
    const last = await readAddedBalances(context, added);
    const positions = [...known.balances, ...last.balances].map((balance) =>
      createPosition(context, balance, last),
    );
    const isRead = markets.every((market) => context.readable.has(market));
    return { positions, warnings: context.warnings, ...(isRead ? {} : { hasUnreadDebt: true }) };
  };
  return createLendingReader(kind.protocol, marketsByChain, read, (market) => [
    describeDelegation(kind, market),
  ]);
}

/** Debt tokens let others borrow against the wallet's collateral. */
function describeDelegation(
  { protocol, layout }: AaveProtocol,
  { pool, quote, reserves }: AaveMarket,
): Delegation {
  const { words, debtToken, stableDebtToken } = layout;
  return {
    ...{ form: "aave", protocol, contract: pool, words, ...(quote && { quote }) },
    underlyingOf: new Map(reserves.map((reserve) => [reserve.debtToken, reserve.underlying])),
    debtWords: [debtToken, ...(stableDebtToken === null ? [] : [stableDebtToken])],
  };
}

type KnownReserves = { readonly balances: readonly Balance[]; readonly unread: readonly UnreadReserve[] };

/** First trip: balances in the reserves of our data, the pools' lists of reserves, and debts at a stable rate. */
async function readKnownReserves(
  context: ReadContext,
  markets: readonly AaveMarket[],
): Promise<KnownReserves> {
  const { at, wallet } = context.query;
  const tokens = markets.flatMap((market) =>
    market.reserves.flatMap(({ underlying, aToken, debtToken }): ReserveToken[] => [
      { market, underlying, token: aToken, kind: "supplied" },
      { market, underlying, token: debtToken, kind: "borrowed" },
    ]),
  );
  const hasStableDebt = context.layout.stableDebtToken !== null;
  const { amounts, pools } = await readGroups(at, context.signal, {
    amounts: joinEach(tokens, ({ token }) => erc20.balanceOf(token, [wallet])),
    pools: joinEach(markets, ({ pool }) => ({
      listed: getReservesList(pool),
      configuration: hasStableDebt ? getUserConfiguration(pool, [wallet]) : null,
    })),
  });
  const unread = pools.flatMap(([market, { listed, configuration }]): UnreadReserve[] => {
    if (listed === null || (hasStableDebt && configuration === null)) {
      warn(
        context,
        market,
        `${market.name} did not list its reserves; positions in new ones may be missing.`,
      );
      return [];
    }
    const known = new Set(market.reserves.map(({ underlying }) => underlying));
    return listed.flatMap((underlying, id) => {
      const isNew = !known.has(underlying);
      return isNew || isBorrowing(configuration ?? 0n, id) ? [{ market, underlying, isNew }] : [];
    });
  });
  return { balances: listBalances(context, amounts), unread };
}

/** Two bits for each reserve, in the order of the pool's list: whether it is borrowed, and whether it is collateral. */
function isBorrowing(configuration: bigint, id: number): boolean {
  return ((configuration >> BigInt(id * 2)) & 1n) === 1n;
}

type AddedReserves = {
  readonly tokens: readonly ReserveToken[];
  /** Metadata of the assets found in the first trip, and of the assets that price them. */
  readonly assets: Assets;
  readonly ages: FeedAgeReads;
};

/** Second trip: the tokens of unread reserves, metadata of the assets found in the first trip, and the market's prices. */
async function readUnreadReserves(
  context: ReadContext,
  balances: readonly Balance[],
  unread: readonly UnreadReserve[],
): Promise<AddedReserves> {
  const { query, layout } = context;
  const priced = distinctReserves([...balances, ...unread]);
  const quotes = priced.flatMap(({ market }) => (market.quote === undefined ? [] : [market.quote]));
  const { reserves, assets, ages } = await readGroups(query.at, context.signal, {
    reserves: joinEach(unread, ({ market, underlying }) => getReserveData(market.pool, [underlying])),
    ages: declareOraclePrices(query.at, priced),
    assets: declareAssets(query, [...balances.map(({ underlying }) => underlying), ...quotes]),
  });
  const tokens = reserves.flatMap(([{ market, underlying, isNew }, data]): ReserveToken[] => {
    const words = decodeWords(data, layout.words);
    const [aToken, debtToken] = [layout.aToken, layout.debtToken].map((word) => wordToAddress(words?.[word]));
    if (!aToken || !debtToken) {
      warn(
        context,
        market,
        `${market.name} did not describe its reserve ${underlying}; positions in it are missing.`,
      );
      return [];
    }
    const stable = layout.stableDebtToken === null ? null : wordToAddress(words?.[layout.stableDebtToken]);
    return [
      ...(isNew ? [{ market, underlying, token: aToken, kind: "supplied" as const }] : []),
      ...(isNew ? [{ market, underlying, token: debtToken, kind: "borrowed" as const }] : []),
      ...(stable ? [{ market, underlying, token: stable, kind: "borrowed at a stable rate" as const }] : []),
    ];
  });
  return { tokens, assets, ages };
}

type AddedBalances = {
  readonly balances: readonly Balance[];
  readonly assets: Assets;
  readonly prices: ReturnType<ReturnType<FeedAgeReads["decode"]>>;
};

/** Third trip, only with something left to read: balances of the added tokens, their metadata, the age of feeds. */
async function readAddedBalances(
  context: ReadContext,
  { tokens, assets, ages }: AddedReserves,
): Promise<AddedBalances> {
  const { query } = context;
  const unknown = tokens.map(({ underlying }) => underlying).filter((underlying) => !assets.has(underlying));
  const { amounts, priceAll, found } = await readGroups(query.at, context.signal, {
    amounts: joinEach(tokens, ({ token }) => erc20.balanceOf(token, [query.wallet])),
    priceAll: ages,
    found: declareAssets(query, unknown),
  });
  const allAssets = new Map([...found, ...assets]);
  return {
    balances: listBalances(context, amounts),
    assets: allAssets,
    prices: priceAll(context.protocol, allAssets),
  };
}

function distinctReserves<T extends { readonly market: AaveMarket; readonly underlying: Hex }>(
  reserves: readonly T[],
): readonly T[] {
  return [...new Map(reserves.map((each) => [reserveKey(each.market, each.underlying), each])).values()];
}

function listBalances(
  context: ReadContext,
  amounts: readonly (readonly [ReserveToken, bigint | null])[],
): readonly Balance[] {
  let unreadable = 0;
  const nonZero = amounts.flatMap(([token, amount]): Balance[] => {
    if (amount === null) {
      unreadable += 1;
      context.incomplete.add(token.market);
    } else context.readable.add(token.market);
    return amount ? [{ ...token, amount }] : [];
  });
  if (unreadable > 0) {
    const { name } = context.query.at.chain;
    context.warnings.push(
      `${context.title} balances on ${name} that could not be read and are missing: ${unreadable}.`,
    );
  }
  return nonZero;
}

function warn({ warnings, incomplete }: ReadContext, market: AaveMarket, warning: string): void {
  warnings.push(warning);
  incomplete.add(market);
}

function createPosition(
  { protocol, incomplete }: ReadContext,
  { market, underlying, token, kind, amount }: Balance,
  { assets, prices }: AddedBalances,
): ProtocolPosition {
  const asset = getAsset(assets, underlying);
  const name = asset.symbol === null ? market.name : `${market.name}: ${asset.symbol}`;
  const isStable = kind === "borrowed at a stable rate";
  return {
    protocol,
    kind: kind === "supplied" ? "supplied" : "borrowed",
    name: isStable ? `${name} (stable rate)` : name,
    contract: token,
    market: market.pool,
    ...(incomplete.has(market) ? { incomplete: true } : {}),
    assets: [{ ...asset, rawBalance: amount, ...prices.get(reserveKey(market, underlying)) }],
    receiptTokens: [token],
  };
}
