// Names, decimals and prices of what a message is about, at the block at which the chain was read for it.
import { compareDecimals, type Decimal, multiplyDecimals, roundDecimal } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { collectPrices, type PriceSourceGroups } from "../../prices/collect-prices.ts";
import { DECIMALS_MAX } from "../../tokens/erc20.ts";
import { type Asset, getAssetKey, type PinnedChain, type TokenMetadata } from "../../types.ts";
import type { SignedAsset } from "./content.ts";

/** As values are shown everywhere. */
const USD_SCALE = 6;

export type MessageValues = {
  assetOf(contract: Hex | null): Asset;
  /** In dollars; null for items, and for coins without a price or decimals. */
  usdOf(asset: Pick<SignedAsset, "standard" | "contract">, amount: bigint): Decimal | null;
  readonly warnings: readonly string[];
};

export async function readMessageValues(
  at: PinnedChain,
  metadata: ReadonlyMap<Hex, TokenMetadata>,
  priceSources: PriceSourceGroups,
  signal: AbortSignal,
): Promise<MessageValues> {
  const { native, tokens } = at.chain;
  const assetOf = (contract: Hex | null): Asset => {
    if (contract === null) return { contract, ...native, logo: null };
    const known = tokens.get(contract) ?? metadata.get(contract);
    const { symbol = null, name = null, decimals = null } = known ?? {};
    return { contract, symbol, name, decimals, logo: null };
  };
  const assets = [null, ...metadata.keys()].map(assetOf);
  const { prices, warnings } = await collectPrices(priceSources, { at, assets }, signal);
  return {
    assetOf,
    warnings,
    usdOf: ({ standard, contract }, amount) => {
      const asset = assetOf(contract);
      const price = prices.get(getAssetKey(asset));
      const { decimals } = asset;
      const isCoin = standard === "native" || standard === "erc20";
      if (!isCoin || price === undefined || decimals === null || decimals > DECIMALS_MAX) return null;
      const full = multiplyDecimals({ units: amount, scale: decimals }, price.usd);
      const limit = price.payableUsdMax;
      const value = limit !== null && compareDecimals(full, limit) > 0 ? limit : full;
      return roundDecimal(value, USD_SCALE, "half-up");
    },
  };
}
