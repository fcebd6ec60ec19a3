// Exports of a test index, and DuckDB over their files.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBConnection } from "@duckdb/node-api";
import type { Manifest } from "../../src/export/manifest.ts";
import { runExport } from "../../src/export/run-export.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import type { RowDeclaration } from "../../src/store/index/row-tables.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { silentLog } from "../support/quiet-log.ts";

type ExportChoice = {
  readonly to?: number;
  readonly step?: number;
  readonly wholeRanges?: boolean;
  /** What the rows are taken to be made from. */
  readonly declaration?: RowDeclaration;
};

/** As the command does. */
export async function exportInto(
  folder: string,
  database: Database,
  { to, step, wholeRanges = false, declaration = rowDeclaration }: ExportChoice = {},
): Promise<Manifest> {
  const { manifest } = await runExport({
    database,
    declaration,
    folder,
    to: to ?? null,
    step: step ?? null,
    wholeRanges,
    log: silentLog,
    clock: systemClock,
    signal: new AbortController().signal,
  });
  return manifest;
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
