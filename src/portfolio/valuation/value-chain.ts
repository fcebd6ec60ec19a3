// One chain valued: its tokens without what positions stand for, its positions with debt below zero.
import { toCaip2Network } from "../../lib/caip2.ts";
import type { PortfolioPosition, PortfolioToken } from "../snapshot-types.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import { getAssetKey, type Holding, type ProtocolPosition } from "../types.ts";
import { resolvePositions } from "./resolve-positions.ts";
import type { ChainData } from "./snapshot-data.ts";
import { formatUsdValue, sumIfAllKnown, type UsdValue, valueAsset } from "./usd.ts";

export type ValuedToken = {
  readonly token: PortfolioToken;
  readonly value: UsdValue;
  readonly isStablecoin: boolean;
  /** Why it is spam; empty for what counts. */
  readonly spamReasons: readonly string[];
};

type ValuedPosition = {
  readonly position: PortfolioPosition;
  readonly value: UsdValue;
  /** Its stablecoins; null where the position itself has no value, for then they count nowhere. */
  readonly stablecoinValues: readonly UsdValue[];
};

export type ValuedChain = {
  readonly data: ChainData;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
  /** Positions without a value, shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
};

export function valueChain(parts: ChainData): ValuedChain {
  const { shownAsPositions: standing, shownAsReceiptTokens: yielding } = resolvePositions(parts);
  const replaced = new Set(standing.flatMap(({ receiptTokens: replaces }) => replaces));
  const tokens = parts.holdings
    .filter(({ contract, rawBalance }) => rawBalance > 0n && !(contract && replaced.has(contract)))
    .map((holding) => valueToken(holding, parts))
    // The empty text sorts first: the native coin leads.
    .sort((a, b) => compareText(a.token.contract ?? "", b.token.contract ?? ""));
  const positions = standing
    .map((position) => valuePosition(position, parts))
    .sort((a, b) => compareText(positionKey(a.position), positionKey(b.position)));
  return { data: parts, tokens, positions, shownAsReceiptTokens: yielding };
}

function valueToken(holding: Holding, { chain, prices, pricesComplete }: ChainData): ValuedToken {
  const found = prices.get(getAssetKey(holding));
  const { asset: shown, value } = valueAsset(holding, found?.price ?? null);
  const reasons = findSpamReasons(holding, { chain, unpriced: pricesComplete && !found });
  const { contract, symbol, name, decimals, ...amounts } = shown;
  return {
    token: {
      ...chainKeys(chain),
      ...{ contract, symbol, name, decimals, logo: holding.logo, ...amounts },
      priceSource: found?.source ?? null,
      spam: reasons.length > 0,
    },
    value,
    isStablecoin: isStable(holding, chain),
    spamReasons: reasons,
  };
}

function valuePosition(position: ProtocolPosition, { chain, prices }: ChainData): ValuedPosition {
  const { protocol, kind, name, contract } = position;
  const sign = kind === "borrowed" ? -1n : 1n;
  const assets = position.assets
    .filter(({ rawBalance }) => rawBalance > 0n)
    .map((asset) => ({
      ...valueAsset(asset, prices.get(getAssetKey(asset))?.price ?? null, sign),
      stable: isStable(asset, chain),
    }));
  const value = sumIfAllKnown(assets.map((asset) => asset.value));
  return {
    position: {
      ...chainKeys(chain),
      ...{ protocol, kind, name, contract },
      assets: assets.map(({ asset: shown }) => shown),
      valueUsd: formatUsdValue(value),
    },
    value,
    stablecoinValues: assets.filter(({ stable }) => stable).map((asset) => value && asset.value),
  };
}

function chainKeys({ slug, chainId }: ChainData["chain"]): { chain: string; chainId: string } {
  return { chain: slug, chainId: toCaip2Network(chainId) };
}

function isStable({ contract }: Pick<Holding, "contract">, { stablecoins }: ChainData["chain"]): boolean {
  return contract !== null && stablecoins.has(contract);
}

function positionKey({ protocol, kind, name, contract }: PortfolioPosition): string {
  return [protocol, kind, name, contract].join("\n");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
