// Values one chain: its tokens without the receipt tokens of positions, and its positions with debt as negative values.
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
  /** Why it is spam; empty when it is not. */
  readonly spamReasons: readonly string[];
};

type ValuedPosition = {
  readonly position: PortfolioPosition;
  readonly value: UsdValue;
  /** Values of its stablecoins; null when the position has no value, because they then count nowhere. */
  readonly stablecoinValues: readonly UsdValue[];
};

export type ValuedChain = {
  readonly data: ChainData;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
  /** Positions without a value, shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
};

export function valueChain(data: ChainData): ValuedChain {
  const { shownAsPositions, shownAsReceiptTokens } = resolvePositions(data);
  const receiptTokens = new Set(shownAsPositions.flatMap((position) => position.receiptTokens));
  const tokens = data.holdings
    .filter(({ contract, rawBalance }) => rawBalance > 0n && !(contract && receiptTokens.has(contract)))
    .map((holding) => valueToken(holding, data))
    // The empty string sorts first, so the native coin comes first.
    .sort((a, b) => compareText(a.token.contract ?? "", b.token.contract ?? ""));
  const positions = shownAsPositions
    .map((position) => valuePosition(position, data))
    .sort((a, b) => compareText(positionKey(a.position), positionKey(b.position)));
  return { data, tokens, positions, shownAsReceiptTokens };
}

function valueToken(
  holding: Holding,
  { chain, prices, incompletePrices, provenTokens }: ChainData,
): ValuedToken {
  const key = getAssetKey(holding);
  const price = prices.get(key) ?? null;
  const { asset, value } = valueAsset(holding, price);
  const spamReasons = findSpamReasons(holding, {
    chain,
    unpriced: price === null && !incompletePrices.has(key),
    proven: price?.provesToken === true || (holding.contract !== null && provenTokens.has(holding.contract)),
  });
  const { contract, symbol, name, decimals, ...amounts } = asset;
  return {
    token: {
      ...chainKeys(chain),
      ...{ contract, symbol, name, decimals, logo: holding.logo, ...amounts },
      spam: spamReasons.length > 0,
    },
    value,
    isStablecoin: isStablecoin(holding, chain),
    spamReasons,
  };
}

function valuePosition(position: ProtocolPosition, { chain, prices }: ChainData): ValuedPosition {
  const { protocol, kind, name, contract } = position;
  const sign = kind === "borrowed" ? -1n : 1n;
  const assets = position.assets
    .filter(({ rawBalance }) => rawBalance > 0n)
    .map((asset) => ({
      ...valueAsset(asset, prices.get(getAssetKey(asset)) ?? null, sign),
      stable: isStablecoin(asset, chain),
    }));
  const value = sumIfAllKnown(assets.map((asset) => asset.value));
  return {
    position: {
      ...chainKeys(chain),
      ...{ protocol, kind, name, contract },
      assets: assets.map(({ asset }) => asset),
      valueUsd: formatUsdValue(value),
    },
    value,
    stablecoinValues: assets.filter(({ stable }) => stable).map((asset) => value && asset.value),
  };
}

function chainKeys({ slug, chainId }: ChainData["chain"]): { chain: string; chainId: string } {
  return { chain: slug, chainId: toCaip2Network(chainId) };
}

function isStablecoin({ contract }: Pick<Holding, "contract">, { stablecoins }: ChainData["chain"]): boolean {
  return contract !== null && stablecoins.has(contract);
}

function positionKey({ protocol, kind, name, contract }: PortfolioPosition): string {
  return [protocol, kind, name, contract].join("\n");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
