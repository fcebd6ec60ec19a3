// The prices by which a Compound v3 market values its assets, for those that no price source knows.
import { divide } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { joinEach, joinReads, Reads } from "../../contract-reads/reads.ts";
import { aggregator } from "../../prices/chainlink.ts";
import { type MarketRate, type PinnedChain, type PositionAsset, quotePrice } from "../../types.ts";
import { declareIsPricing, hasPinnedFeed, judgeFeedTime } from "../market-price.ts";
import {
  type CompoundV3Market,
  cometCalls,
  PRICE_DECIMALS,
  PROTOCOL,
  type PricedToken,
} from "./contracts.ts";

/** As fine as the amounts of the largest tokens. */
const RATE_DECIMALS = 18;

type FeedPrice = { readonly units: bigint; readonly feed: Hex; readonly timestamp: number | null };
/** Prices by market and asset, in the unit of the market. */
type FeedPrices = ReadonlyMap<string, FeedPrice>;

/** A market's base asset, alone or with a collateral that is priced in it. */
type Wanted = CompoundV3Market & { readonly base: PricedToken; readonly collateral?: PricedToken };

export function declareFeedPrices(at: PinnedChain, wanted: readonly Wanted[]): Reads<FeedPrices> {
  const isUnpriced = ({ asset }: PricedToken) => !hasPinnedFeed(at.chain.chainId, asset);
  const tokens = new Map<string, { readonly comet: Hex; readonly feed: Hex }>();
  const add = (comet: Hex, { asset, feed }: PricedToken) => {
    if (feed !== null) tokens.set(priceKey(comet, asset), { comet, feed });
  };
  for (const { comet, base, collateral } of wanted) {
    if (!isUnpriced(collateral ?? base)) continue;
    add(comet, base);
    if (collateral !== undefined) add(comet, collateral);
  }
  if (tokens.size === 0) return new Reads([], () => new Map());
  const prices = joinEach([...tokens], ([, { comet, feed }]) => ({
    units: cometCalls.getPrice(comet, [feed]),
    round: aggregator.latestRoundData(feed),
  }));
  return joinReads({ isPricing: declareIsPricing(at), prices }).map((read) => {
    const found = read.prices.flatMap(([[key, { feed }], { units, round }]): [string, FeedPrice][] => {
      const { timestamp, isStale } = judgeFeedTime(at, round);
      return units && !isStale ? [[key, { units, feed, timestamp }]] : [];
    });
    return new Map(read.isPricing ? found : []);
  });
}

/** The dollar price of the base asset, in a market that counts in dollars. */
export function priceBase(
  { chain }: PinnedChain,
  { comet, isInDollars }: CompoundV3Market,
  base: Hex,
  prices: FeedPrices,
): Pick<PositionAsset, "marketPrice"> {
  const price = prices.get(priceKey(comet, base));
  if (price === undefined || !isInDollars || hasPinnedFeed(chain.chainId, base)) return {};
  const { units, feed, timestamp } = price;
  const usd = { units, scale: PRICE_DECIMALS };
  return { marketPrice: { ...quotePrice(usd, { contract: feed, timestamp }), source: PROTOCOL } };
}

/** The price of a collateral in the base asset: right in any unit. */
export function priceCollateral(
  { comet }: CompoundV3Market,
  collateral: Hex,
  prices: FeedPrices,
  base: MarketRate["per"] & { readonly contract: Hex },
): Pick<PositionAsset, "marketRate"> {
  const price = prices.get(priceKey(comet, collateral));
  const basePrice = prices.get(priceKey(comet, base.contract));
  if (price === undefined || basePrice === undefined) return {};
  const units = divide(price.units * 10n ** BigInt(RATE_DECIMALS), basePrice.units, "half-up");
  const { feed: contract, timestamp } = price;
  return {
    marketRate: { rate: { units, scale: RATE_DECIMALS }, per: base, source: PROTOCOL, contract, timestamp },
  };
}

function priceKey(comet: Hex, asset: Hex): string {
  return `${comet} ${asset}`;
}
