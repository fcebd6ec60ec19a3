// Stored snapshots: figures and blocks under the hash of their text, from which a difference can start without an archive node.
import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PortfolioSnapshot, SnapshotBlock } from "../../schema/portfolio/snapshot.ts";
import type { SnapshotTable } from "../../store/postgres/stored-snapshots.ts";
import { extractFigures, type SnapshotFigures } from "./figures.ts";

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
};

/** The text of a stored snapshot. */
type StoredText = SnapshotFigures & Partial<Omit<StoredSnapshot, "figures">>;

// The figures of some ten thousand tokens.
const STORED_BYTES_MAX = 256 * 1024;
// The most bytes that this can inflate to: bounds a damaged row.
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

export function openStoredSnapshots(table: SnapshotTable): StoredSnapshots {
  return {
    async store(snapshot, asOf) {
      const stored: StoredText = { ...extractFigures(snapshot), blocks: snapshot.blocks, asOf };
      const text = JSON.stringify(stored);
      const figures = deflateSync(text);
      if (figures.length > STORED_BYTES_MAX) return null;
      const id = createHash("sha256").update(text).digest("hex");
      await table.put(snapshot.address, id, figures);
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
      return { figures: known, blocks, asOf };
    },
  };
}
