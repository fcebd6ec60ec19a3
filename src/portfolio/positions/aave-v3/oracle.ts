// The prices by which an Aave market values its reserves, for positions whose assets no price source knows.
import { decodeAddress, decodeWord } from "../../../lib/abi/return-data.ts";
import type { Decimal } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { defineRead, joinEach, joinReads, Reads } from "../../contract-reads/reads.ts";
import { aggregator } from "../../prices/chainlink.ts";
import { type PinnedChain, type PositionAsset, quotePrice } from "../../types.ts";
import { type Assets, getAsset } from "../asset-metadata.ts";
import { declareIsPricing, hasPinnedFeed, judgeFeedTime } from "../market-price.ts";
import type { AaveMarket } from "./markets.ts";

/** The views of an Aave oracle. */
export const aaveOracle = {
  /** Zero for an asset that it cannot price. */
  getAssetPrice: defineRead("function getAssetPrice(address)", decodeWord),
  getSourceOfAsset: defineRead("function getSourceOfAsset(address)", decodeAddress),
};

const baseCurrency = defineRead("function BASE_CURRENCY()", decodeWord);
const baseCurrencyUnit = defineRead("function BASE_CURRENCY_UNIT()", decodeWord);

// Aave represents the dollar by the zero address; an oracle with another base currency does not return dollars.
const US_DOLLAR = 0n;
/** The unit of an oracle that counts in ether. */
const QUOTE_DECIMALS = 18;

type Listed = { readonly market: AaveMarket; readonly underlying: Hex };
type OraclePrice = Listed & {
  readonly price: Decimal;
  /** The feed behind it; null if the oracle has none, as for its own base currency. */
  readonly feed: Hex | null;
};
type MarketPrice = Pick<PositionAsset, "marketPrice" | "marketRate">;
/** Prices by market and underlying. */
type MarketPrices = ReadonlyMap<string, MarketPrice>;

/** First the prices and their feeds, then the age of each feed: each part travels with a trip of the reader. */
type OracleReads = Reads<FeedAgeReads>;
type FeedAgeReads = Reads<(protocol: string, assets: Assets) => MarketPrices>;

export function declareOraclePrices(at: PinnedChain, reserves: readonly Listed[]): OracleReads {
  const wanted = reserves.filter(({ underlying }) => !hasPinnedFeed(at.chain.chainId, underlying));
  if (wanted.length === 0) return new Reads([], () => declareFeedAges(at, []));
  const prices = joinEach(wanted, ({ market, underlying }) => ({
    scale: declareScale(market),
    units: aaveOracle.getAssetPrice(market.oracle, [underlying]),
    feed: aaveOracle.getSourceOfAsset(market.oracle, [underlying]),
  })).map((all) =>
    all.flatMap(([listed, { scale, units, feed }]): OraclePrice[] =>
      units && scale !== null ? [{ ...listed, price: { units, scale }, feed }] : [],
    ),
  );
  return joinReads({ isPricing: declareIsPricing(at), prices }).map((read) =>
    declareFeedAges(at, read.isPricing ? read.prices : []),
  );
}

function declareFeedAges(at: PinnedChain, prices: readonly OraclePrice[]): FeedAgeReads {
  const rounds = joinEach(prices, ({ feed }) => feed && aggregator.latestRoundData(feed));
  return rounds.map((all) => (protocol, assets) => {
    const found = all.flatMap(([{ market, underlying, price, feed }, round]): [string, MarketPrice][] => {
      const { timestamp, isStale } = judgeFeedTime(at, round);
      if (isStale) return [];
      const known = { contract: feed ?? market.oracle, timestamp };
      const priced: MarketPrice =
        market.quote === undefined
          ? { marketPrice: { ...quotePrice(price, known), source: protocol } }
          : { marketRate: { rate: price, per: getAsset(assets, market.quote), source: protocol, ...known } };
      return [[reserveKey(market, underlying), priced]];
    });
    return new Map(found);
  });
}

export function reserveKey({ pool }: AaveMarket, underlying: Hex): string {
  return `${pool} ${underlying}`;
}

/** Null for an oracle that counts in something else than its market's data says. */
function declareScale({ quote, oracle }: AaveMarket): Reads<number | null> {
  // The first oracles of version 2 have no functions that tell.
  return quote === undefined ? declareDollarScale(oracle) : new Reads([], () => QUOTE_DECIMALS);
}

/** The decimals of prices in dollars; null when they are in something else, or not decimal at all. */
export function declareDollarScale(oracle: Hex): Reads<number | null> {
  return joinReads([baseCurrency(oracle), baseCurrencyUnit(oracle)]).map(([base, unit]) => {
    const digits = unit?.toString() ?? "";
    return base === US_DOLLAR && /^10*$/.test(digits) ? digits.length - 1 : null;
  });
}
