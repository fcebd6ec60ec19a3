// The price of an asset in a position: of a price source, else of the market that the position is in.
import { multiplyDecimals, roundDecimal } from "../../lib/decimal.ts";
import { type AssetPrice, getAssetKey, type PositionAsset, quotePrice } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

/** The input for the price of an asset; plain tokens have no market. */
type PricedAsset = Pick<PositionAsset, "contract" | "marketPrice" | "marketRate" | "isPayoutUnproven">;

// More digits than any price source has.
const PRICE_SCALE = 18;

/**
 * Markets come last: their prices are for liquidations, and only the market vouches for them. They never price a
 * plain token.
 */
export function findAssetPrice(asset: PricedAsset, prices: ChainData["prices"]): AssetPrice | null {
  if (asset.isPayoutUnproven) return null;
  const own = prices.get(getAssetKey(asset)) ?? asset.marketPrice ?? null;
  const { marketRate } = asset;
  if (own !== null || !marketRate) return own;
  const per = findAssetPrice(marketRate.per, prices);
  if (per === null) return null;
  const usd = roundDecimal(multiplyDecimals(marketRate.rate, per.usd), PRICE_SCALE, "half-up");
  const { source, contract } = marketRate;
  const timestamp = older(marketRate.timestamp, per.timestamp);
  // The pools that bound the price of the other asset bound this one's.
  return { ...quotePrice(usd, { contract, timestamp, payableUsdMax: per.payableUsdMax }), source };
}

/** Null when one of them is unknown. */
function older(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.min(a, b);
}
