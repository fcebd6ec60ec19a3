// The figures of a snapshot that a difference needs, and stored ones, from which a difference can start without an archive node.

import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { addDecimals, formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { AssetFigures, PositionChange, TokenChange, TokenFigures } from "../../schema/portfolio/diff.ts";
import type {
  ChainSummary,
  PortfolioAsset,
  PortfolioPosition,
  PortfolioSnapshot,
  SnapshotBlock,
} from "../../schema/portfolio/snapshot.ts";
import type { SnapshotTable } from "../../store/postgres/stored-snapshots.ts";

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

export type StoredSnapshot = {
  readonly figures: SnapshotFigures;
  /** Empty for one that an earlier version stored. */
  readonly blocks: readonly SnapshotBlock[];
  /** Whether it was read as of blocks that the request named, without vendors. */
  readonly asOf: boolean;
};

export type StoredSnapshots = {
  /** The id, under which it can be loaded once it is sold; null for a snapshot that is too large to be stored. */
  store(snapshot: PortfolioSnapshot, asOf: boolean): Promise<string | null>;
  markSold(wallet: Hex, id: string): Promise<void>;
  /** Throws NOT_FOUND for an id that this wallet has no sold snapshot under. */
  load(wallet: Hex, id: string): Promise<StoredSnapshot>;
  /** How many chains the snapshot has, if this process has stored or loaded it lately. */
  knownChainCount(wallet: Hex, id: string): number | undefined;
};

/** The text of a stored snapshot. */
type StoredText = SnapshotFigures & Partial<Omit<StoredSnapshot, "figures">>;

// The figures of some ten thousand tokens.
const STORED_BYTES_MAX = 256 * 1024;
// The most bytes that this can inflate to: bounds a damaged row.
const TEXT_BYTES_MAX = 64 * 1024 * 1024;
const CHAIN_COUNTS_MAX = 10_000;

export function openStoredSnapshots(table: SnapshotTable): StoredSnapshots {
  const chainCounts = new LruMap<string, number>(CHAIN_COUNTS_MAX);
  const nameOf = (wallet: Hex, id: string) => `${wallet} ${id}`;
  return {
    async store(snapshot, asOf) {
      const stored: StoredText = { ...extractFigures(snapshot), blocks: snapshot.blocks, asOf };
      const text = JSON.stringify(stored);
      const figures = deflateSync(text);
      if (figures.length > STORED_BYTES_MAX) return null;
      const id = createHash("sha256").update(text).digest("hex");
      await table.put(snapshot.address, id, figures);
      chainCounts.set(nameOf(snapshot.address, id), stored.chains.length);
      return id;
    },
    markSold: (wallet, id) => table.markSold(wallet, id),
    async load(wallet, id) {
      const figures = await table.get(wallet, id);
      if (figures === null) {
        throw new Fault(
          "NOT_FOUND",
          "This wallet has no snapshot of that id: they are kept for 90 days, the newest ten thousand of a wallet.",
        );
      }
      const text = inflateSync(figures, { maxOutputLength: TEXT_BYTES_MAX }).toString("utf8");
      const { blocks = [], asOf = false, ...known } = JSON.parse(text) as StoredText;
      chainCounts.set(nameOf(wallet, id), known.chains.length);
      return { figures: known, blocks, asOf };
    },
    knownChainCount: (wallet, id) => chainCounts.get(nameOf(wallet, id)),
  };
}
