// The figures of a snapshot that a difference needs, each under one key and in one order, without names and descriptions.
import { addDecimals, formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { AssetFigures, PositionChange, TokenChange, TokenFigures } from "../../schema/portfolio/diff.ts";
import type {
  ChainSummary,
  PortfolioAsset,
  PortfolioPosition,
  PortfolioSnapshot,
} from "../../schema/portfolio/snapshot.ts";

export type TokenKey = Pick<TokenChange, "chain" | "contract">;
type PositionKey = Pick<PositionChange, "chain" | "protocol" | "kind" | "name" | "contract">;
/** An asset of a position; `contract` is null for the native coin. */
export type PositionAssetKey = Pick<TokenChange, "contract">;

export type FiguresOf<Key, Figures> = Key & { readonly figures: Figures };

export type SnapshotFigures = {
  readonly address: Hex;
  readonly timestamp: string;
  readonly totalValueUsd: string | null;
  /** In the order of the snapshot. */
  readonly chains: readonly Pick<ChainSummary, "chain" | "totalValueUsd">[];
  /** Sorted by chain, then contract; each once. */
  readonly tokens: readonly FiguresOf<TokenKey, TokenFigures>[];
  /** Sorted by their keys, each once: equal positions are one. */
  readonly positions: readonly (PositionKey & {
    readonly assets: readonly FiguresOf<PositionAssetKey, AssetFigures>[];
  })[];
};

export function extractFigures(snapshot: PortfolioSnapshot): SnapshotFigures {
  const { address, timestamp, summary, tokens, positions } = snapshot;
  return {
    address,
    timestamp,
    totalValueUsd: summary.totalValueUsd,
    chains: summary.chains.map(({ chain, totalValueUsd }) => ({ chain, totalValueUsd })),
    tokens: tokens
      .map((token) => ({
        chain: token.chain,
        contract: token.contract,
        figures: { ...assetFigures(token), spam: token.spam },
      }))
      .sort(byKey(formatTokenKey)),
    positions: mergePositions(positions),
  };
}

/** The same without chains that are unknown on one side: what they hold would seem to come or to go. */
export function leaveOutChains(
  figures: SnapshotFigures,
  { slugs, failed }: { readonly slugs: readonly string[]; readonly failed: ReadonlySet<string> },
): SnapshotFigures {
  if (failed.size === 0) return figures;
  const isKept = ({ chain }: { readonly chain: string }) => !failed.has(chain);
  const read = new Map(figures.chains.filter(isKept).map((each) => [each.chain, each]));
  return {
    ...figures,
    totalValueUsd: null,
    chains: slugs.map((chain) => read.get(chain) ?? { chain, totalValueUsd: null }),
    tokens: figures.tokens.filter(isKept),
    positions: figures.positions.filter(isKept),
  };
}

export function formatTokenKey({ chain, contract }: TokenKey): string {
  return JSON.stringify([chain, contract ?? ""]);
}

export function formatPositionKey({ chain, protocol, kind, name, contract }: PositionKey): string {
  return JSON.stringify([chain, protocol, kind, contract ?? "", name]);
}

export function formatAssetKey({ contract }: PositionAssetKey): string {
  return contract ?? "";
}

export function byKey<T>(format: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [format(a), format(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  };
}

function assetFigures({ symbol, decimals, rawBalance, priceUsd, valueUsd }: PortfolioAsset): AssetFigures {
  return { symbol, decimals, rawBalance, priceUsd, valueUsd };
}

/** A protocol may list a position twice under one name: only their sum can be followed from one block to another. */
function mergePositions(positions: readonly PortfolioPosition[]): SnapshotFigures["positions"] {
  const merged = new Map<string, SnapshotFigures["positions"][number]>();
  for (const { chain, protocol, kind, name, contract, assets } of positions) {
    const key: PositionKey = { chain, protocol, kind, name, contract };
    const known = merged.get(formatPositionKey(key))?.assets ?? [];
    const added = assets.map((asset) => ({ contract: asset.contract, figures: assetFigures(asset) }));
    merged.set(formatPositionKey(key), { ...key, assets: mergeAssets([...known, ...added]) });
  }
  return [...merged.values()].sort(byKey(formatPositionKey));
}

function mergeAssets(
  assets: readonly FiguresOf<PositionAssetKey, AssetFigures>[],
): readonly FiguresOf<PositionAssetKey, AssetFigures>[] {
  const merged = new Map<string, FiguresOf<PositionAssetKey, AssetFigures>>();
  for (const asset of assets) {
    const known = merged.get(formatAssetKey(asset));
    const figures = known === undefined ? asset.figures : addFigures(known.figures, asset.figures);
    merged.set(formatAssetKey(asset), { contract: asset.contract, figures });
  }
  return [...merged.values()].sort(byKey(formatAssetKey));
}

/** A field that differs between the two is unknown for their sum. */
function addFigures(a: AssetFigures, b: AssetFigures): AssetFigures {
  const common = <Key extends keyof AssetFigures>(key: Key): AssetFigures[Key] | null =>
    a[key] === b[key] ? a[key] : null;
  return {
    symbol: common("symbol"),
    decimals: common("decimals"),
    rawBalance: (BigInt(a.rawBalance) + BigInt(b.rawBalance)).toString(),
    priceUsd: common("priceUsd"),
    valueUsd: addUsd(a.valueUsd, b.valueUsd),
  };
}

/** Null when one of them is unknown. */
export function addUsd(a: string | null, b: string | null): string | null {
  return a === null || b === null
    ? null
    : formatDecimal(addDecimals(parseDecimal(a, "a value"), parseDecimal(b, "a value")));
}

export function subtractUsd(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  const { units, scale } = parseDecimal(b, "a value");
  return addUsd(a, formatDecimal({ units: -units, scale }));
}
