// The prices by which an Aave market values its reserves, for positions whose assets no price source knows.
import { decodeWord, wordToAddress } from "../../../lib/abi/return-data.ts";
import type { Decimal } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, createCallEncoder } from "../../multicall.ts";
import { aggregator } from "../../prices/chainlink.ts";
import { type ContractRead, type PinnedChain, type PositionAsset, quotePrice } from "../../types.ts";
import { type Assets, getAsset } from "../asset-metadata.ts";
import { encodeSequencerCalls, hasPinnedFeed, isPricing, judgeFeedTime } from "../market-price.ts";
import type { AaveMarket } from "./market.ts";

/** The calls of an Aave oracle. */
export const aaveOracle = {
  getAssetPrice: createCallEncoder("function getAssetPrice(address) view returns (uint256)"),
  getSourceOfAsset: createCallEncoder("function getSourceOfAsset(address) view returns (address)"),
  baseCurrency: createCallEncoder("function BASE_CURRENCY() view returns (address)"),
  baseCurrencyUnit: createCallEncoder("function BASE_CURRENCY_UNIT() view returns (uint256)"),
};

// Aave represents the dollar by the zero address; an oracle with another base currency does not return dollars.
const US_DOLLAR = 0n;
/** Of an oracle that counts in ether. */
const QUOTE_DECIMALS = 18;

type Listed = { readonly market: AaveMarket; readonly underlying: Hex };
type OraclePrice = Listed & {
  readonly price: Decimal;
  /** The feed behind it; null if the oracle has none, as for its own base currency. */
  readonly feed: Hex | null;
};
type MarketPrice = Pick<PositionAsset, "marketPrice" | "marketRate">;
/** By market and underlying. */
type MarketPrices = ReadonlyMap<string, MarketPrice>;

/** First the prices and their feeds, then the age of each feed: each part travels with a trip of the reader. */
export type OracleLookup = {
  readonly calls: readonly ContractRead[];
  decode(results: CallResults): {
    readonly calls: readonly ContractRead[];
    decode(results: CallResults, protocol: string, assets: Assets): MarketPrices;
  };
};

export function prepareOracleLookup(at: PinnedChain, reserves: readonly Listed[]): OracleLookup {
  const wanted = reserves.filter(({ underlying }) => !hasPinnedFeed(at.chain.chainId, underlying));
  if (wanted.length === 0) return NOTHING;
  const sequencer = encodeSequencerCalls(at);
  const markets = [...new Set(wanted.map(({ market }) => market))];
  const unitCalls = markets.flatMap(({ oracle }) => [
    aaveOracle.baseCurrency(oracle),
    aaveOracle.baseCurrencyUnit(oracle),
  ]);
  const calls = [
    ...sequencer,
    ...unitCalls,
    ...wanted.flatMap(({ market, underlying }) => [
      aaveOracle.getAssetPrice(market.oracle, [underlying]),
      aaveOracle.getSourceOfAsset(market.oracle, [underlying]),
    ]),
  ];
  return {
    calls,
    decode: (results) => {
      if (!isPricing(at, results.slice(0, sequencer.length))) return NOTHING.decode(results);
      const scales = new Map(
        markets.map((market, index) => {
          const [base, unit] = results.slice(sequencer.length + index * 2);
          return [market, decodeScale(market, base ?? null, unit ?? null)];
        }),
      );
      const prices = wanted.flatMap(({ market, underlying }, index): OraclePrice[] => {
        const [result, source] = results.slice(sequencer.length + unitCalls.length + index * 2);
        const units = decodeWord(result);
        const scale = scales.get(market) ?? null;
        // The oracle returns zero for an asset that it cannot price.
        if (!units || scale === null) return [];
        return [{ market, underlying, price: { units, scale }, feed: wordToAddress(decodeWord(source)) }];
      });
      return prepareAgeLookup(at, prices);
    },
  };
}

const NOTHING: OracleLookup = { calls: [], decode: () => ({ calls: [], decode: () => new Map() }) };

function prepareAgeLookup(
  at: PinnedChain,
  prices: readonly OraclePrice[],
): ReturnType<OracleLookup["decode"]> {
  const feeds = [...new Set(prices.flatMap(({ feed }) => (feed === null ? [] : [feed])))];
  return {
    calls: feeds.map((feed) => aggregator.latestRoundData(feed)),
    decode: (results, protocol, assets) => {
      const times = new Map(feeds.map((feed, index) => [feed, judgeFeedTime(at, results[index])]));
      const found = prices.flatMap(({ market, underlying, price, feed }): [string, MarketPrice][] => {
        const { timestamp, isStale } = (feed && times.get(feed)) || { timestamp: null, isStale: false };
        if (isStale) return [];
        const known = { contract: feed ?? market.oracle, timestamp };
        const priced: MarketPrice =
          market.quote === undefined
            ? { marketPrice: { ...quotePrice(price, known), source: protocol } }
            : {
                marketRate: { rate: price, per: getAsset(assets, market.quote), source: protocol, ...known },
              };
        return [[reserveKey(market, underlying), priced]];
      });
      return new Map(found);
    },
  };
}

export function reserveKey({ pool }: AaveMarket, underlying: Hex): string {
  return `${pool} ${underlying}`;
}

/** Null for an oracle that counts in something else than its market's data says. */
function decodeScale({ quote }: AaveMarket, base: Hex | null, unit: Hex | null): number | null {
  // The first oracles of version 2 have no such functions.
  return quote === undefined ? decodeDollarScale(base, unit) : QUOTE_DECIMALS;
}

/** The decimals of prices in dollars; null when they are in something else, or not decimal at all. */
export function decodeDollarScale(base: Hex | null | undefined, unit: Hex | null | undefined): number | null {
  if (decodeWord(base) !== US_DOLLAR) return null;
  const digits = decodeWord(unit)?.toString() ?? "";
  return /^10*$/.test(digits) ? digits.length - 1 : null;
}
