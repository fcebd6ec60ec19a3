// One chain valued: its tokens without what positions stand for, its positions with debt below zero.
import { networkOf } from "../../lib/caip2.ts";
import type { PortfolioPosition, PortfolioToken } from "../snapshot-types.ts";
import { spamReasons } from "../tokens/spam.ts";
import { assetKey, type FoundPosition, type Holding } from "../types.ts";
import { settlePositions } from "./resolve-positions.ts";
import type { ChainParts } from "./snapshot-data.ts";
import { sumWhole, type Usd, usdText } from "./usd.ts";
import { valueAsset } from "./value-asset.ts";

export type ValuedToken = {
  readonly shown: PortfolioToken;
  readonly value: Usd;
  readonly stable: boolean;
  /** Why it is spam; empty for what counts. */
  readonly spamReasons: readonly string[];
};

type ValuedPosition = {
  readonly shown: PortfolioPosition;
  readonly value: Usd;
  /** Its stablecoins; null where the position itself has no value, for then they count nowhere. */
  readonly stableValues: readonly Usd[];
};

export type ValuedChain = {
  readonly parts: ChainParts;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
  /** Positions without a value, shown as their receipt tokens instead. */
  readonly yielding: readonly FoundPosition[];
};

export function valueChain(parts: ChainParts): ValuedChain {
  const { standing, yielding } = settlePositions(parts);
  const replaced = new Set(standing.flatMap(({ replaces }) => replaces));
  const tokens = parts.holdings
    .filter(({ contract, rawBalance }) => rawBalance > 0n && !(contract && replaced.has(contract)))
    .map((holding) => valueToken(holding, parts))
    // The empty text sorts first: the native coin leads.
    .sort((a, b) => compareText(a.shown.contract ?? "", b.shown.contract ?? ""));
  const positions = standing
    .map((position) => valuePosition(position, parts))
    .sort((a, b) => compareText(positionKey(a.shown), positionKey(b.shown)));
  return { parts, tokens, positions, yielding };
}

function valueToken(holding: Holding, { chain, prices, pricesComplete }: ChainParts): ValuedToken {
  const found = prices.get(assetKey(holding));
  const { shown, value } = valueAsset(holding, found?.price ?? null);
  const reasons = spamReasons(holding, { chain, unpriced: pricesComplete && !found });
  const { contract, symbol, name, decimals, ...amounts } = shown;
  return {
    shown: {
      ...chainKeys(chain),
      ...{ contract, symbol, name, decimals, logo: holding.logo, ...amounts },
      priceSource: found?.source ?? null,
      spam: reasons.length > 0,
    },
    value,
    stable: isStable(holding, chain),
    spamReasons: reasons,
  };
}

function valuePosition(position: FoundPosition, { chain, prices }: ChainParts): ValuedPosition {
  const { protocol, kind, name, contract } = position;
  const sign = kind === "borrowed" ? -1n : 1n;
  const assets = position.assets
    .filter(({ rawBalance }) => rawBalance > 0n)
    .map((asset) => ({
      ...valueAsset(asset, prices.get(assetKey(asset))?.price ?? null, sign),
      stable: isStable(asset, chain),
    }));
  const value = sumWhole(assets.map((asset) => asset.value));
  return {
    shown: {
      ...chainKeys(chain),
      ...{ protocol, kind, name, contract },
      assets: assets.map(({ shown }) => shown),
      valueUsd: usdText(value),
    },
    value,
    stableValues: assets.filter(({ stable }) => stable).map((asset) => value && asset.value),
  };
}

function chainKeys({ slug, chainId }: ChainParts["chain"]): { chain: string; chainId: string } {
  return { chain: slug, chainId: networkOf(chainId) };
}

function isStable({ contract }: Pick<Holding, "contract">, { stablecoins }: ChainParts["chain"]): boolean {
  return contract !== null && stablecoins.has(contract);
}

function positionKey({ protocol, kind, name, contract }: PortfolioPosition): string {
  return [protocol, kind, name, contract].join("\n");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
