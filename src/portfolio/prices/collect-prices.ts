// Prices from sources in order of trust: groups one after another, the sources of a group at once.
import type { Decimal } from "../../lib/decimal.ts";
import {
  type Asset,
  type AssetKey,
  getAssetKey,
  type PriceQuery,
  type PriceResult,
  type PriceSource,
} from "../types.ts";
import type { AssetPrice, ChainData } from "../valuation/snapshot-data.ts";

/** Groups are asked in turn, each only for what still lacks a price; within a group the earlier source wins. */
export type PriceSourceGroups = readonly (readonly PriceSource[])[];

type GatheredPrices = Pick<ChainData, "prices" | "pricesComplete" | "warnings">;

// A source that hangs is one that failed: the balances are read by now, and whoever asked is still waiting.
const TIME_MS_MAX = 6_000;

export async function collectPrices(
  sources: PriceSourceGroups,
  { at, assets }: PriceQuery,
  signal: AbortSignal,
  timeMsMax: number = TIME_MS_MAX,
): Promise<GatheredPrices> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeMsMax)]);
  const prices = new Map<AssetKey, AssetPrice>();
  const warnings: string[] = [];
  let pricesComplete = true;
  for (const group of sources) {
    const wanted = distinct(assets).filter((asset) => !prices.has(getAssetKey(asset)));
    if (wanted.length === 0) break;
    const answers = await Promise.allSettled(
      group.map(async (source) => source.read({ at, assets: wanted }, inTime)),
    );
    signal.throwIfAborted();
    group.forEach(({ name }, index) => {
      const answer = answers[index];
      if (answer?.status === "fulfilled") {
        warnings.push(...answer.value.warnings);
        take(name, answer.value, wanted, prices);
      } else {
        pricesComplete = false;
        warnings.push(`Prices from ${name} are missing on ${at.chain.name}: it did not answer as it should.`);
      }
    });
  }
  return { prices, pricesComplete, warnings };
}

/** Prices that came with the balances, as a source of their own. */
export function createProviderPriceSource(name: string, prices: ReadonlyMap<AssetKey, Decimal>): PriceSource {
  return { name, read: async () => ({ prices, warnings: [] }) };
}

function take(
  source: string,
  answer: PriceResult,
  wanted: readonly Asset[],
  prices: Map<AssetKey, AssetPrice>,
): void {
  for (const key of wanted.map(getAssetKey)) {
    const price = answer.prices.get(key);
    // Nothing is worth less than nothing: a price below zero is a broken answer.
    if (price && price.units >= 0n && !prices.has(key)) prices.set(key, { price, source });
  }
}

function distinct(assets: readonly Asset[]): readonly Asset[] {
  const byKey = new Map<AssetKey, Asset>();
  for (const asset of assets) if (!byKey.has(getAssetKey(asset))) byKey.set(getAssetKey(asset), asset);
  return [...byKey.values()];
}
