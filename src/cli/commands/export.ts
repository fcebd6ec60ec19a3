// `sextant export`: writes final blocks as immutable Parquet files, verifies such files, or publishes the tables.
import { join, resolve } from "node:path";
import { readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import { VIEWS_NAME } from "../../export/folder.ts";
import { runExport } from "../../export/run-export.ts";
import { verifyExport } from "../../export/verify-export.ts";

import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { rowDeclaration } from "../../protocol/domains.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import { ensurePublication } from "../../store/postgres/publication.ts";
import { type CommandContext, type RunCommand, readIntegerOption, readStringOption } from "../command.ts";
import { hangLines } from "../display/plain-text.ts";
import { INTERRUPTED, OutputError } from "../exit-codes.ts";
import { chooseDeployment } from "../installation.ts";

/** The tables that the rows are made from, and the checkpoint; the tables of rows are added to them. */
const SOURCE_TABLES = ["deployment", "blocks", "logs", "checkpoint"];

export const exportCommand: RunCommand = async (context) => {
  const { options } = context;
  const folder = readStringOption(options, "parquet");
  const publication = readStringOption(options, "publication");
  if ((folder === undefined) === (publication === undefined)) {
    throw new Fault("USAGE_INVALID", "Give either --parquet DIR or --publication NAME.");
  }
  if (publication !== undefined)
    return withDatabase(context, (database) => publish(database, publication, context));
  const path = resolve(folder ?? "");
  if (options.verify === true) return unlessInterrupted(context, () => verify(path, context));
  const chosen = {
    to: readLastBlock(context),
    step: readIntegerOption(options, "step", 1),
    wholeRanges: options["whole-ranges"] === true,
  };
  return withDatabase(context, (database) =>
    unlessInterrupted(context, () => exportParquet(database, path, chosen, context)),
  );
};

/** Every listed file is whole: after an interruption the next run goes on from there. */
async function unlessInterrupted({ stop }: CommandContext, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (stop.aborted) return INTERRUPTED;
    throw isFileError(error) ? new OutputError(error) : error;
  }
}

/** Null for the finalized block. */
function readLastBlock({ options }: CommandContext): number | null {
  return readStringOption(options, "to") === "finalized" ? null : readIntegerOption(options, "to", 0);
}

async function withDatabase(
  { environment, options, log }: CommandContext,
  work: (database: Database) => Promise<number>,
): Promise<number> {
  const { databaseSchema } = await chooseDeployment({ environment, options });
  const config = { ...readConfig(environment, databaseSettings), databaseSchema };
  const { database, close } = await openConfiguredDatabase(config, log, "export");
  try {
    return await work(database);
  } finally {
    await close();
  }
}

async function exportParquet(
  database: Database,
  folder: string,
  chosen: { readonly to: number | null; readonly step: number | null; readonly wholeRanges: boolean },
  { log, stop, print, progress, columns }: CommandContext,
): Promise<number> {
  const common = { database, declaration: rowDeclaration, folder, log, clock: systemClock, signal: stop };
  const onProgress = (done: number, total: number) =>
    progress?.track("Exporting", { done, total, unit: "blocks" });
  const { manifest, added } = await runExport({ ...common, ...chosen, onProgress });
  progress?.show("");
  const rows = added.reduce((sum, file) => sum + file.rows, 0);
  const result =
    `Added ${count(added.length)} files with ${count(rows)} rows to ${folder}, which now has blocks ${manifest.from} to ${manifest.to - 1}.\n` +
    `To query them, change to that folder and run: duckdb -init ${VIEWS_NAME}\n`;
  print(hangLines(result, columns));
  return 0;
}

/** Recognizes errors of the file system, such as a full disk, as opposed to those of the database. */
function isFileError(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof Fault) && "syscall" in error && "errno" in error;
}

async function verify(folder: string, { stop, print, columns }: CommandContext): Promise<number> {
  const { files, bytes, differences } = await verifyExport(folder, stop);
  if (differences.length === 0) {
    const result = `All ${count(files)} files of ${join(folder)} are as exported: ${count(bytes)} bytes.\n`;
    print(hangLines(result, columns));
    return 0;
  }
  print(differences.map((difference) => `${difference}\n`).join(""));
  return 1;
}

async function publish(database: Database, name: string, { print }: CommandContext): Promise<number> {
  const tables = [...SOURCE_TABLES, ...rowDeclaration.tables.map((table) => table.name)];
  const { added, isLogical } = await ensurePublication(database, name, tables);
  print(
    `The publication ${name} has ${count(tables.length)} tables, ${count(added.length)} of them added now.\n`,
  );
  if (!isLogical)
    print("The server has another wal_level than logical, which followers need: see docs/export.md.\n");
  return 0;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
