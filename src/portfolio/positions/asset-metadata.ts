// Metadata of the assets in positions: from holdings and lists if known, otherwise read along with other calls.
import type { Hex } from "../../lib/hex.ts";
import { joinReads, Reads } from "../contract-reads/reads.ts";
import { declareMetadata } from "../tokens/erc20.ts";
import type { Asset, Holding } from "../types.ts";
import type { PositionReadWithTokens } from "./position-read.ts";

/** Assets by contract; null for the native coin. */
export type Assets = ReadonlyMap<Hex | null, Asset>;

/** Holdings take precedence over lists: their metadata comes from the contracts. */
export function declareAssets(
  { at: { chain }, holdings }: Pick<PositionReadWithTokens, "at" | "holdings">,
  contracts: Iterable<Hex | null>,
): Reads<Assets> {
  const held = new Map(holdings.map(({ rawBalance: _, ...asset }) => [asset.contract, asset]));
  const assets = [...new Set(contracts)].flatMap((contract) => {
    if (contract === null) return [];
    const known = held.get(contract) ?? chain.tokens.get(contract);
    return known
      ? new Reads<Asset>([], () => known)
      : declareMetadata(contract).map((metadata): Asset => ({ contract, ...metadata, logo: null }));
  });
  const native: Asset = { contract: null, ...chain.native, logo: null };
  return joinReads(assets).map((all) => new Map([native, ...all].map((asset) => [asset.contract, asset])));
}

/** The asset, or one without metadata when no lookup covered the contract. */
export function getAsset(assets: Assets, contract: Hex | null): Asset {
  return assets.get(contract) ?? { contract, symbol: null, name: null, decimals: null, logo: null };
}

export function toHolding(assets: Assets, contract: Hex | null, rawBalance: bigint): Holding {
  return { ...getAsset(assets, contract), rawBalance };
}

/** The market's name with the asset's symbol, if that is known. */
export function nameWithSymbol(name: string, { symbol }: Asset): string {
  return symbol === null ? name : `${name}: ${symbol}`;
}
