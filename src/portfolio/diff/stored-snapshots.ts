// Stored snapshots: figures under the hash of their text, from which a difference can start without an archive node.
import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { SnapshotTable } from "../../store/postgres/stored-snapshots.ts";
import type { PortfolioSnapshot } from "../snapshot-types.ts";
import { extractFigures, type SnapshotFigures } from "./figures.ts";

export type StoredSnapshots = {
  /** The id; null for a snapshot that is too large to be stored. */
  store(snapshot: PortfolioSnapshot): Promise<string | null>;
  /** Throws NOT_FOUND for an id that this wallet has no snapshot under. */
  load(wallet: Hex, id: string): Promise<SnapshotFigures>;
};

// The figures of some ten thousand tokens.
const STORED_BYTES_MAX = 256 * 1024;
// What that can inflate to: bounds a damaged row.
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

export function openStoredSnapshots(table: SnapshotTable): StoredSnapshots {
  return {
    async store(snapshot) {
      const text = JSON.stringify(extractFigures(snapshot));
      const figures = deflateSync(text);
      if (figures.length > STORED_BYTES_MAX) return null;
      const id = createHash("sha256").update(text).digest("hex");
      await table.put(snapshot.address as Hex, id, figures);
      return id;
    },
    async load(wallet, id) {
      const figures = await table.get(wallet, id);
      if (figures === null) {
        throw new Fault(
          "NOT_FOUND",
          "This wallet has no snapshot of that id: they are kept for 90 days, the newest hundred of a wallet.",
        );
      }
      return JSON.parse(
        inflateSync(figures, { maxOutputLength: TEXT_BYTES_MAX }).toString("utf8"),
      ) as SnapshotFigures;
    },
  };
}
