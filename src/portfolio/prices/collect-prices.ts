// Collects prices from sources in order of trust: groups in sequence, the sources of a group concurrently.
import { BUDGET_MS, runAllWithinBudget } from "../time-budgets.ts";
import {
  type Asset,
  type AssetKey,
  type AssetPrice,
  getAssetKey,
  isListed,
  type PinnedChain,
  type PriceQuery,
  type PriceResult,
  type PriceSource,
  type QuotedPrice,
} from "../types.ts";
import type { ChainData } from "../valuation/snapshot-data.ts";

/** Each group only gets the assets without a price yet; within a group the earlier source wins. */
export type PriceSourceGroups = readonly (readonly PriceSource[])[];

type CollectedPrices = Pick<ChainData, "prices" | "incompletePrices" | "warnings">;

export async function collectPrices(
  sources: PriceSourceGroups,
  query: PriceQuery,
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.prices,
): Promise<CollectedPrices> {
  const { at, assets } = query;
  const endMs = performance.now() + budgetMs;
  const prices = new Map<AssetKey, AssetPrice>();
  const warnings: string[] = [];
  const incompletePrices = new Set<AssetKey>();
  for (const group of sources) {
    const wanted = distinct(assets).filter((asset) => !prices.has(getAssetKey(asset)));
    if (wanted.length === 0) break;
    const leftMs = endMs - performance.now();
    const [used, leftOut] = splitByPresence(group, at);
    for (const { name } of leftOut) {
      for (const asset of wanted) incompletePrices.add(getAssetKey(asset));
      warnings.push(
        `Prices from ${name} are missing on ${at.chain.name}: the source knows only the newest, and these are as of a block.`,
      );
    }
    const works = used.map(
      (source) => (stop: AbortSignal) => source.read({ ...query, assets: wanted }, stop),
    );
    const outcomes = await runAllWithinBudget(works, leftMs, signal);
    used.forEach(({ name }, index) => {
      const outcome = outcomes[index];
      if (outcome && "value" in outcome) {
        warnings.push(...outcome.value.warnings);
        addPrices(name, outcome.value, wanted, prices);
        for (const key of outcome.value.unasked ?? []) incompletePrices.add(key);
      } else {
        for (const asset of wanted) incompletePrices.add(getAssetKey(asset));
        warnings.push(`Prices from ${name} are missing on ${at.chain.name}: the source failed or timed out.`);
      }
    });
  }
  // Sources that need each other's prices may report the same outage.
  return { prices, incompletePrices, warnings: [...new Set(warnings)] };
}

/** Asks early what the prices of these assets need, so that collecting them later takes fewer round trips. */
export async function prefetchPrices(
  sources: PriceSourceGroups,
  query: PriceQuery,
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.prices,
): Promise<void> {
  if (query.at.results === undefined || query.assets.length === 0) return;
  const early = sources.flat().flatMap((source) => source.prefetch?.bind(source) ?? []);
  await runAllWithinBudget(
    early.map((prefetch) => (stop) => prefetch(query, stop)),
    budgetMs,
    signal,
  );
}

/** The sources to use, and those that do not know the requested block. */
function splitByPresence(
  group: readonly PriceSource[],
  { asOf = false }: PinnedChain,
): readonly [readonly PriceSource[], readonly PriceSource[]] {
  const isLeftOut = ({ presentOnly = false }: PriceSource) => asOf && presentOnly;
  return [group.filter((source) => !isLeftOut(source)), group.filter(isLeftOut)];
}

/**
 * A source of the prices that the provider returned with the balances. It says neither how sure it is nor how much its
 * markets could pay, so that it prices no token that anyone may have made.
 */
export function createProviderPriceSource(
  name: string,
  prices: ReadonlyMap<AssetKey, QuotedPrice>,
): PriceSource {
  return {
    name,
    read: async ({ at, assets }) => {
      const unlisted = assets.filter((asset) => !isListed(at.chain, asset)).map(getAssetKey);
      const unasked = new Set(unlisted.filter((key) => prices.has(key)));
      return { prices: new Map([...prices].filter(([key]) => !unasked.has(key))), unasked, warnings: [] };
    },
  };
}

function addPrices(
  source: string,
  result: PriceResult,
  wanted: readonly Asset[],
  prices: Map<AssetKey, AssetPrice>,
): void {
  for (const key of wanted.map(getAssetKey)) {
    const price = result.prices.get(key);
    // A negative price is an invalid result.
    if (price && price.usd.units >= 0n && !prices.has(key)) prices.set(key, { ...price, source });
  }
}

/** One of each, with all that is held of it. */
function distinct(assets: PriceQuery["assets"]): PriceQuery["assets"] {
  const byKey = new Map<AssetKey, PriceQuery["assets"][number]>();
  for (const asset of assets) {
    const known = byKey.get(getAssetKey(asset));
    const rawBalance = (known?.rawBalance ?? 0n) + (asset.rawBalance ?? 0n);
    byKey.set(getAssetKey(asset), { ...(known ?? asset), rawBalance });
  }
  return [...byKey.values()];
}
