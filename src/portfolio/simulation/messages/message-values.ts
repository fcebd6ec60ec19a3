// Names, decimals and prices of what a message is about, at the block at which the chain was read for it.
import type { Hex } from "../../../lib/hex.ts";
import { collectPrices, type PriceSourceGroups } from "../../prices/collect-prices.ts";
import { type Asset, getAssetKey, type PinnedChain, type TokenMetadata } from "../../types.ts";
import { type UsdValue, valueAmount } from "../../valuation/usd.ts";
import type { SignedAsset } from "./content.ts";

export type MessageValues = {
  assetOf(contract: Hex | null): Asset;
  /** In dollars; null for items, and for coins without a price or decimals. */
  usdOf(asset: Pick<SignedAsset, "standard" | "contract">, amount: bigint): UsdValue;
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
      const isCoin = standard === "native" || standard === "erc20";
      const price = prices.get(getAssetKey(asset)) ?? null;
      return isCoin ? valueAmount({ units: amount, decimals: asset.decimals }, price) : null;
    },
  };
}
