// Metadata of the assets in positions: from holdings and lists where known, otherwise read along with other calls.
import type { Hex } from "../../lib/hex.ts";
import type { CallResults } from "../multicall.ts";
import { decodeMetadata, encodeMetadataCalls, METADATA_CALLS } from "../tokens/erc20.ts";
import type { Asset, ContractRead, PositionQuery } from "../types.ts";

/** The missing calls, and how to decode their results. */
type AssetLookup = {
  readonly calls: readonly ContractRead[];
  decode(results: CallResults): Assets;
};

export type Assets = ReadonlyMap<Hex, Asset>;

/** Holdings take precedence over lists: their metadata comes from the contracts. */
export function prepareAssetLookup(
  { at, holdings }: Pick<PositionQuery, "at" | "holdings">,
  contracts: Iterable<Hex>,
): AssetLookup {
  const held = new Map(holdings.map(({ rawBalance: _, ...asset }) => [asset.contract, asset]));
  const distinct = [...new Set(contracts)];
  const known = new Map<Hex, Asset>();
  for (const contract of distinct) {
    const asset = held.get(contract) ?? at.chain.tokens.get(contract);
    if (asset) known.set(contract, asset);
  }
  const unknown = distinct.filter((contract) => !known.has(contract));
  return {
    calls: unknown.flatMap(encodeMetadataCalls),
    decode: (results) => {
      const read = unknown.map((contract, index): [Hex, Asset] => {
        const metadata = decodeMetadata(results.slice(index * METADATA_CALLS));
        return [contract, { contract, ...metadata, logo: null }];
      });
      return new Map([...known, ...read]);
    },
  };
}

/** The asset, or one without metadata when no lookup covered the contract. */
export function getAsset(assets: Assets, contract: Hex): Asset {
  return assets.get(contract) ?? { contract, symbol: null, name: null, decimals: null, logo: null };
}
