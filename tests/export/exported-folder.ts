// Exports of a test index, and DuckDB over their files.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { DuckDBConnection } from "@duckdb/node-api";
import type { Manifest } from "../../src/export/manifest.ts";
import { runExport } from "../../src/export/run-export.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import type { RowDeclaration } from "../../src/store/index/row-tables.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { createTestDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { openTestConnection } from "../support/index/empty-index.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";
import { silentLog } from "../support/quiet-log.ts";

export type ExportChoice = {
  readonly to?: number;
  readonly step?: number;
  readonly wholeRanges?: boolean;
  readonly logsPerRange?: number;
  /** The source that the rows are said to come from. */
  readonly declaration?: RowDeclaration;
  /** Called when the files of a range have their names, before they are listed. */
  readonly beforeListing?: (range: { readonly from: number; readonly to: number }) => void;
};

/** As the command does. */
export async function exportInto(
  folder: string,
  database: Database,
  { to, step, wholeRanges = false, declaration = rowDeclaration, ...others }: ExportChoice = {},
): Promise<Manifest> {
  const { logsPerRange, beforeListing } = others;
  const { manifest } = await runExport({
    database,
    declaration,
    folder,
    to: to ?? null,
    step: step ?? null,
    wholeRanges,
    ...(logsPerRange === undefined ? {} : { logsPerRange }),
    log: beforeListing ? Object.assign(Object.create(silentLog), { info: beforeListing }) : silentLog,
    clock: systemClock,
    signal: new AbortController().signal,
  });
  return manifest;
}

/** A copy of the index that all files share. */
export async function openSharedIndex() {
  const { template, deployment } = await readSharedHistory();
  const place = await createTestDatabase({ template });
  const database = await openTestConnection(place.connection);
  return {
    database,
    deployment,
    url: formatConnectionUrl(place.connection),
    async close() {
      await database.close();
      await place.drop();
    },
  };
}

/** The hash of every file by its path, half written ones and the manifest included. */
export async function hashFiles(folder: string): Promise<Readonly<Record<string, string>>> {
  const hashed = (await listFiles(folder)).map(async (path) => {
    const hash = createHash("sha256").update(await readFile(join(folder, path)));
    return [path, hash.digest("hex")] as const;
  });
  return Object.fromEntries(await Promise.all(hashed));
}

/** Paths relative to the folder, which may be missing. */
export async function listFiles(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

/** The hash of every listed file by its path. */
export function hashesOf({ files }: Manifest): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));
}

export type ExportQuery = <R = Record<string, string>>(sql: string) => Promise<R[]>;

/** DuckDB in memory with the views of the folder; integers beyond 32 bits come as text. */
export async function openDuckdb(folder: string): Promise<ExportQuery> {
  const connection = await DuckDBConnection.create();
  // As from a shell in that folder.
  await connection.run(`set file_search_path = '${folder}'`);
  await connection.run(await readFile(join(folder, "views.sql"), "utf8"));
  return async <R>(sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as R[];
}
