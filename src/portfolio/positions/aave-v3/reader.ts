// Aave and its forks: what a wallet supplied and borrowed, by its balances of every reserve's receipt and debt tokens.

import { decodeWord, decodeWords, wordToAddress } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { defineRead, joinEach, type ResultsOf, toAddressArray, toWords } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Delegation, PositionReader } from "../../types.ts";
import { declareAssets, getAsset, nameWithSymbol } from "../asset-metadata.ts";
import { defineReader, type PositionRead } from "../position-read.ts";
import type { AaveMarket, AaveMarkets } from "./markets.ts";
import { declareOraclePrices, reserveKey } from "./oracle.ts";

/** The differences between the versions of Aave and its forks. */
type AaveProtocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  /** Words of a pool's data about one reserve, and the positions of its tokens in them. */
  readonly words: number;
  readonly aToken: number;
  readonly debtToken: number;
  /** Null if debt at a stable rate no longer exists. */
  readonly stableDebtToken: number | null;
};

const V3_LAYOUT = { words: 15, aToken: 8, debtToken: 10, stableDebtToken: null };
const V2_LAYOUT = { words: 12, aToken: 7, debtToken: 9, stableDebtToken: 8 };

export function createAaveV3Reader(markets: AaveMarkets): PositionReader {
  return createAaveReader({ protocol: "aave-v3", title: "Aave v3", ...V3_LAYOUT }, markets);
}

/** A fork of Aave v3 before its version 3.1. It has contracts for debt at a stable rate, which was never enabled. */
export function createSparkReader(markets: AaveMarkets): PositionReader {
  return createAaveReader({ protocol: "spark", title: "SparkLend", ...V3_LAYOUT }, markets);
}

/** The reader of v3 with other words, and debt at a stable rate. */
export function createAaveV2Reader(markets: AaveMarkets): PositionReader {
  return createAaveReader({ protocol: "aave-v2", title: "Aave v2", ...V2_LAYOUT }, markets);
}

/** A pool stores a user's reserves in one word, two bits each, so there are never more. */
const RESERVES_MAX = 128;

export const getReservesList = defineRead("function getReservesList()", toAddressArray(RESERVES_MAX));
export const getReserveData = defineRead("function getReserveData(address)", (data) => data);
/** Collateral, debt, what can still be borrowed, threshold, loan to value, health factor. */
export const getUserAccountData = defineRead("function getUserAccountData(address)", toWords(6));
const getUserConfiguration = defineRead("function getUserConfiguration(address)", decodeWord);

type Reserve = { readonly market: AaveMarket; readonly underlying: Hex };
/** A reserve that our data lacks, or whose debt at a stable rate it lacks. */
type UnreadReserve = Reserve & { readonly isNew: boolean };
/** A token whose balance is what the wallet supplied or owes. */
type ReserveToken = Reserve & {
  readonly token: Hex;
  readonly kind: "supplied" | "borrowed" | "borrowed at a stable rate";
};
type Balance = ReserveToken & { readonly amount: bigint };

/**
 * One round trip for the reserves in our data. The same trip reads the pool's list of reserves, because a debt in a
 * newer reserve would make a wallet look richer than it is; new reserves, and prices that only the market knows, cost two
 * more trips.
 */
function createAaveReader(kind: AaveProtocol, markets: AaveMarkets): PositionReader {
  const { protocol, stableDebtToken } = kind;
  return defineReader({
    protocol,
    markets,
    readsDebt: true,
    delegationsOf: (market) => [describeDelegation(kind, market)],
    async read(run, own) {
      const { wallet } = run;
      const first = await run.ask({
        amounts: declareBalances(run, own.flatMap(listTokens)),
        pools: joinEach(own, ({ pool }) => ({
          listed: getReservesList(pool),
          configuration: stableDebtToken === null ? null : getUserConfiguration(pool, [wallet]),
        })),
      });
      const unread = first.pools.flatMap(([market, { listed, configuration }]): readonly UnreadReserve[] => {
        if (listed !== null && (stableDebtToken === null || configuration !== null))
          return listUnread(market, listed, configuration ?? 0n);
        const warning = `${market.name} did not list its reserves; positions in new ones may be missing.`;
        run.warnOfMarkets([market.pool], warning);
        return [];
      });
      const known = listBalances(run, kind, first.amounts);

      const reserves = distinctReserves([...known, ...unread]);
      const second = await run.ask({
        unread: joinEach(unread, ({ market, underlying }) => getReserveData(market.pool, [underlying])),
        ages: declareOraclePrices(run.at, reserves),
        assets: declareAssets(
          await run.withTokens(),
          reserves.flatMap(({ market, underlying }) => [underlying, market.quote ?? []].flat()),
        ),
      });
      const tokens = second.unread.flatMap(([reserve, data]) => decodeTokens(run, kind, reserve, data));

      const last = await run.ask({ amounts: declareBalances(run, tokens), priceAll: second.ages });
      const prices = last.priceAll(protocol, second.assets);
      return [...known, ...listBalances(run, kind, last.amounts)].map((balance) => {
        const { market, underlying, token, amount } = balance;
        const asset = getAsset(second.assets, underlying);
        const name = nameWithSymbol(market.name, asset);
        return {
          protocol,
          kind: balance.kind === "supplied" ? "supplied" : "borrowed",
          name: balance.kind === "borrowed at a stable rate" ? `${name} (stable rate)` : name,
          contract: token,
          market: market.pool,
          assets: [{ ...asset, rawBalance: amount, ...prices.get(reserveKey(market, underlying)) }],
          receiptTokens: [token],
        };
      });
    },
  });
}

/** Debt tokens let others borrow against the wallet's collateral. */
function describeDelegation(
  { protocol, words, debtToken, stableDebtToken }: AaveProtocol,
  { pool, quote, reserves }: AaveMarket,
): Delegation {
  return {
    form: "aave",
    protocol,
    contract: pool,
    words,
    ...(quote && { quote }),
    underlyingOf: new Map(reserves.map((reserve) => [reserve.debtToken, reserve.underlying])),
    debtWords: [debtToken, ...(stableDebtToken === null ? [] : [stableDebtToken])],
  };
}

function listTokens(market: AaveMarket): readonly ReserveToken[] {
  return market.reserves.flatMap(({ underlying, aToken, debtToken }): ReserveToken[] => [
    { market, underlying, token: aToken, kind: "supplied" },
    { market, underlying, token: debtToken, kind: "borrowed" },
  ]);
}

/**
 * `configuration` has two bits for each reserve, in the order of the pool's list: whether it is borrowed, and whether it
 * is collateral.
 */
function listUnread(
  market: AaveMarket,
  listed: readonly Hex[],
  configuration: bigint,
): readonly UnreadReserve[] {
  const known = new Set(market.reserves.map(({ underlying }) => underlying));
  return listed.flatMap((underlying, id) => {
    const isNew = !known.has(underlying);
    const isBorrowed = ((configuration >> BigInt(id * 2)) & 1n) === 1n;
    return isNew || isBorrowed ? [{ market, underlying, isNew }] : [];
  });
}

function distinctReserves(reserves: readonly Reserve[]): readonly Reserve[] {
  return [...new Map(reserves.map((each) => [reserveKey(each.market, each.underlying), each])).values()];
}

function decodeTokens(
  run: PositionRead,
  { words: count, ...layout }: AaveProtocol,
  { isNew, ...reserve }: UnreadReserve,
  data: Hex | null,
): readonly ReserveToken[] {
  const words = decodeWords(data, count);
  const [supply, debt, stable] = [layout.aToken, layout.debtToken, layout.stableDebtToken ?? -1].map((word) =>
    wordToAddress(words?.[word]),
  );
  if (!supply || !debt) {
    const { market, underlying } = reserve;
    const warning = `${market.name} did not describe its reserve ${underlying}; positions in it are missing.`;
    run.warnOfMarkets([market.pool], warning);
    return [];
  }
  return [
    ...(isNew ? [{ ...reserve, token: supply, kind: "supplied" as const }] : []),
    ...(isNew ? [{ ...reserve, token: debt, kind: "borrowed" as const }] : []),
    ...(stable ? [{ ...reserve, token: stable, kind: "borrowed at a stable rate" as const }] : []),
  ];
}

function declareBalances({ wallet }: PositionRead, tokens: readonly ReserveToken[]) {
  return joinEach(tokens, ({ token }) => erc20.balanceOf(token, [wallet]));
}

function listBalances(
  run: PositionRead,
  { title }: AaveProtocol,
  amounts: ResultsOf<ReturnType<typeof declareBalances>>,
): readonly Balance[] {
  const unread = amounts.filter(([, amount]) => amount === null);
  const warning = `${title} balances on ${run.chain} that could not be read and are missing: ${unread.length}.`;
  run.warnOfMarkets(
    unread.map(([{ market }]) => market.pool),
    warning,
  );
  return amounts.flatMap(([token, amount]) => {
    if (amount !== null) run.markRead(token.market.pool);
    return amount ? [{ ...token, amount }] : [];
  });
}
