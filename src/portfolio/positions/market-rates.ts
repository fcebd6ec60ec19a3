// Prices that follow from a protocol's own rate: an asset that no source knows, counted in another one that a source does.
import { multiplyDecimals } from "../../lib/decimal.ts";
import {
  type Asset,
  type AssetKey,
  type AssetPrice,
  getAssetKey,
  type PositionAsset,
  type ProtocolPosition,
  quotePrice,
} from "../types.ts";

/** The assets in which rates are given; without their prices the rates say nothing. */
export function listRateAssets(positions: readonly ProtocolPosition[]): readonly Asset[] {
  return positions.flatMap(({ assets }) => assets.flatMap(({ marketRate }) => marketRate?.asset ?? []));
}

export function applyMarketRates(
  positions: readonly ProtocolPosition[],
  prices: ReadonlyMap<AssetKey, AssetPrice>,
): readonly ProtocolPosition[] {
  return positions.map((position) => ({
    ...position,
    assets: position.assets.map((asset) => applyMarketRate(position.protocol, asset, prices)),
  }));
}

function applyMarketRate(
  protocol: string,
  asset: PositionAsset,
  prices: ReadonlyMap<AssetKey, AssetPrice>,
): PositionAsset {
  const { marketRate, ...plain } = asset;
  const base = marketRate && prices.get(getAssetKey(marketRate.asset));
  if (!base || plain.marketPrice) return plain;
  const { rate, contract } = marketRate;
  // When the rate was set is unknown; the pools that bound the other asset's price bound this one's.
  const price = quotePrice(multiplyDecimals(base.usd, rate), { contract, payableUsdMax: base.payableUsdMax });
  return { ...plain, marketPrice: { ...price, source: protocol } };
}
