// Metadata of the assets in positions: from holdings and lists where known, otherwise read along with other calls.
import type { Hex } from "../../lib/hex.ts";
import { joinReads, Reads } from "../contract-reads/reads.ts";
import { declareMetadata } from "../tokens/erc20.ts";
import type { Asset, PositionQuery } from "../types.ts";

export type Assets = ReadonlyMap<Hex, Asset>;

/** Holdings take precedence over lists: their metadata comes from the contracts. */
export function declareAssets(
  { at, holdings }: Pick<PositionQuery, "at" | "holdings">,
  contracts: Iterable<Hex>,
): Reads<Assets> {
  const held = new Map(holdings.map(({ rawBalance: _, ...asset }) => [asset.contract, asset]));
  const assets = [...new Set(contracts)].map((contract) => {
    const known = held.get(contract) ?? at.chain.tokens.get(contract);
    return known
      ? new Reads<Asset>([], () => known)
      : declareMetadata(contract).map((metadata): Asset => ({ contract, ...metadata, logo: null }));
  });
  return joinReads(assets).map((all) => new Map(all.map((asset) => [asset.contract as Hex, asset])));
}

/** The asset, or one without metadata when no lookup covered the contract. */
export function getAsset(assets: Assets, contract: Hex): Asset {
  return assets.get(contract) ?? { contract, symbol: null, name: null, decimals: null, logo: null };
}
