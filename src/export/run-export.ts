// Exports final blocks range by range: one snapshot, one file per table, then the manifest that lists them.
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { parseDeployment } from "../protocol/deployment.ts";
import {
  type Checkpoint,
  readCheckpoint,
  readNewestBlockWithLogs,
  readStoredBlock,
} from "../store/index/checkpoint.ts";
import { readDeploymentIdentity, type StoredDeployment } from "../store/index/prepare.ts";
import { findBlockWithLog } from "../store/index/range-rows.ts";
import { type RowDeclaration, readRowTablesState } from "../store/index/row-tables.ts";
import { acquireLock, type Lock } from "../store/postgres/advisory-lock.ts";
import type { Database } from "../store/postgres/database.ts";
import type { QueryRunner } from "../store/postgres/session.ts";
import type { ExportedRange, ExportTable } from "./export-table.ts";
import { createExportTables } from "./export-tables.ts";
import {
  deleteOwnPartials,
  deleteUnlisted,
  partialPath,
  publishFile,
  readFileSize,
  syncFolder,
  VIEWS_NAME,
  writeWholeFile,
} from "./folder.ts";
import {
  assertSameManifest,
  filePath,
  type Manifest,
  type ManifestFile,
  openManifest,
  writeManifest,
} from "./manifest.ts";
import { ParquetFile } from "./parquet-file.ts";
import { formatViews } from "./views.ts";

type ExportOptions = {
  readonly database: Database;
  readonly declaration: RowDeclaration;
  readonly folder: string;
  /** The last block; null for the finalized one. */
  readonly to: number | null;
  /** Blocks from one cut to the next; null for that of the manifest, or the default. */
  readonly step: number | null;
  /** Only ranges that end at a multiple of the step, so that files do not depend on when exports run. */
  readonly wholeRanges: boolean;
  /** Logs after which a range ends before its step does; LOGS_PER_RANGE by default. */
  readonly logsPerRange?: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called after each table of a range with the blocks that are exported, if all tables take equally long. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
};

/** About a day of a chain with a block every two seconds. */
const DEFAULT_STEP = 50_000;
// Bounds the size of a file, and how long a range keeps its snapshot, however busy the chain is.
const LOGS_PER_RANGE = 500_000;
// A range is read in one transaction: a statement sorts the rows of a table once.
const STATEMENT_MS_MAX = 600_000;

const SNAPSHOT = {
  isolation: "repeatable read",
  access: "read only",
  statementTimeoutMs: STATEMENT_MS_MAX,
} as const;

/** The manifest afterwards, and the files that this run has added. */
export async function runExport(
  options: ExportOptions,
): Promise<{ readonly manifest: Manifest; readonly added: readonly ManifestFile[] }> {
  const { database, folder, signal } = options;
  await mkdir(folder, { recursive: true });
  // Two runs into one folder would delete each other's files as left over. The lock ends with its process. Deployments of
  // one database have a schema each, and folders in common.
  const key = `export ${await realpath(folder)}`;
  const lock = await acquireLock(database, key, { schema: null, waitMs: 0, signal });
  if (!lock)
    throw new Fault("DATABASE_BUSY", `Another process exports into ${folder}; wait until it is done.`);
  try {
    return await exportRanges(lock, options);
  } finally {
    await lock.release();
  }
}

async function exportRanges(lock: Lock, options: ExportOptions) {
  const { folder, step } = options;
  const { deployment, to } = await lock.transaction((session) => readPosition(session, options), SNAPSHOT);
  const { foldVersion, equivalentFoldVersions = [] } = options.declaration;
  const tables = tablesOf(deployment);
  const names = tables.map(({ name }) => name);
  const identity = { deployment, foldVersion, equivalentFoldVersions, tables };
  let manifest = await openManifest(folder, identity, { step, defaultStep: DEFAULT_STEP });
  await lock.transaction((session) => assertSameChain(session, manifest, folder), SNAPSHOT);
  await assertFilesPresent(folder, manifest);
  const listed = new Set(manifest.files.map(({ path }) => path));
  // Reads the manifest again: reading every file takes time, in which another run may have listed what would seem left
  // over.
  await assertSameManifest(folder, manifest);
  await deleteUnlisted(folder, names, listed);
  try {
    const first = manifest.to;
    for await (const range of cutRanges(manifest, to, options)) {
      const onTable = (written: number) => {
        const part = ((range.to - range.from) * written) / tables.length;
        options.onProgress?.(range.from - first + part, to - first);
      };
      const next = await exportRange(lock, manifest, { tables, range, onTable }, options);
      await listFiles(folder, manifest, next);
      manifest = next;
    }
    await writeWholeFile(folder, VIEWS_NAME, formatViews(manifest));
  } catch (error) {
    // The first error is the one to report.
    await deleteOwnPartials(folder, names).catch(() => undefined);
    throw error;
  }
  return { manifest, added: manifest.files.filter(({ path }) => !listed.has(path)) };
}

function tablesOf({ chainId, startBlock, contracts }: StoredDeployment): readonly ExportTable[] {
  const stored = { network: "exported", chainId, startBlock, contracts };
  return createExportTables(parseDeployment(stored, "the stored deployment"));
}

/** The deployment of the index, and the exclusive end of this export. */
async function readPosition(session: QueryRunner, { declaration, to }: ExportOptions) {
  const deployment = await readDeploymentIdentity(session);
  const checkpoint = await readCheckpoint(session);
  if (!deployment || !checkpoint)
    throw new Fault(
      "INDEX_EMPTY",
      "Nothing is indexed yet; start the indexer, and export once blocks are final.",
    );
  await assertExportable(session, declaration, checkpoint, to ?? checkpoint.finalized);
  return { deployment, to: (to ?? checkpoint.finalized) + 1 };
}

async function assertExportable(
  session: QueryRunner,
  declaration: RowDeclaration,
  checkpoint: Checkpoint | null,
  last: number,
): Promise<void> {
  if ((await readRowTablesState(session, declaration)) !== "current") {
    throw new Fault(
      "DATABASE_BUSY",
      "The rows were made by another version; start the indexer of this version, and export once it has rebuilt them.",
    );
  }
  // Blocks behind the checkpoint may be indexed only in part.
  const finalized = checkpoint ? Math.min(checkpoint.finalized, checkpoint.block.number) : -1;
  if (last <= finalized) return;
  throw new Fault(
    "INPUT_INVALID",
    `Block ${last} is not final yet: the index has final blocks up to ${finalized}, and what is exported can never change.`,
  );
}

/** The ranges from where the manifest ends, cut at multiples of its step, and shorter if they have many logs. */
async function* cutRanges(
  { to: from, step }: Manifest,
  to: number,
  { database, wholeRanges, logsPerRange = LOGS_PER_RANGE }: ExportOptions,
): AsyncGenerator<ExportedRange> {
  for (let start = from; start < to; ) {
    const cut = (Math.floor(start / step) + 1) * step;
    const end = Math.min(cut, to);
    const full = await findBlockWithLog(database, { from: start, to: end }, logsPerRange);
    if (full === null && wholeRanges && cut > to) return;
    const range = { from: start, to: full === null ? end : full + 1 };
    yield range;
    start = range.to;
  }
}

/** Another chain may have the same id and contracts, as a local one that was started again. */
async function assertSameChain(
  session: QueryRunner,
  { to, lastLogBlock }: Manifest,
  folder: string,
): Promise<void> {
  const stored = await readNewestBlockWithLogs(session, to - 1);
  if (stored?.number === lastLogBlock?.number && stored?.hash === lastLogBlock?.hash) return;
  const describe = (block: Manifest["lastLogBlock"]) => (block ? `${block.number} ${block.hash}` : "none");
  throw new Fault(
    "DEPLOYMENT_MISMATCH",
    `${folder} has blocks of another chain: its newest block with logs before ${to} is ${describe(lastLogBlock)}, that of the database ${describe(stored)}. Export into a new folder.`,
  );
}

/** Cheap, and finds what is most likely: a file that was moved or cut. --verify reads them all. */
async function assertFilesPresent(folder: string, { files }: Manifest): Promise<void> {
  for (const { path, bytes } of files) {
    const size = await readFileSize(join(folder, path));
    if (size === bytes) continue;
    const found = size === null ? "is missing" : `has ${size} bytes instead of ${bytes}`;
    throw new Fault(
      "INPUT_INVALID",
      `${folder}/${path} ${found}; restore it from a copy, or export into a new folder. --verify lists every such file.`,
    );
  }
}

async function exportRange(
  lock: Lock,
  manifest: Manifest,
  work: {
    readonly tables: readonly ExportTable[];
    readonly range: ExportedRange;
    readonly onTable: (written: number) => void;
  },
  options: ExportOptions,
): Promise<Manifest> {
  const { tables, range, onTable } = work;
  const { declaration, folder, log, clock, signal } = options;
  const startedMs = clock.nowMs();
  const last = range.to - 1;
  const { files, block, lastLogBlock } = await lock.transaction(async (session) => {
    // A rebuild replaces the tables under this lock. Before the first statement, which takes the snapshot: otherwise
    // names could lead to tables that are newer than the snapshot, and seem empty in it.
    await session.query("lock table checkpoint in access share mode");
    await assertExportable(session, declaration, await readCheckpoint(session), last);
    const written: ManifestFile[] = [];
    for (const [index, table] of tables.entries()) {
      const file = await writeTable(session, table, range, { folder, signal });
      if (file) written.push(file);
      onTable(index + 1);
    }
    const stored = await readStoredBlock(session, last);
    return {
      files: written,
      block: { number: last, hash: stored?.hash ?? null, timestamp: stored?.timestamp ?? null },
      lastLogBlock: await readNewestBlockWithLogs(session, last),
    };
  }, SNAPSHOT);
  await publishFiles(folder, manifest, files);
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const seconds = Math.max(1, clock.nowMs() - startedMs) / 1000;
  log.info(
    {
      component: "export",
      event: "range_exported",
      from: range.from,
      to: last,
      rows,
      rowsPerSecond: Math.round(rows / seconds),
    },
    "A range of blocks is exported",
  );
  return { ...manifest, to: range.to, block, lastLogBlock, files: [...manifest.files, ...files] };
}

/** Gives files their names, unless another run has listed some of these names meanwhile. */
async function publishFiles(folder: string, known: Manifest, files: readonly ManifestFile[]): Promise<void> {
  await assertSameManifest(folder, known);
  for (const { table, path } of files) {
    await publishFile(join(folder, path));
    await syncFolder(join(folder, table));
  }
  await syncFolder(folder);
}

/** Replaces the manifest by one with more files, unless another run has replaced it or deleted one of them. */
async function listFiles(folder: string, before: Manifest, after: Manifest): Promise<void> {
  await assertSameManifest(folder, before);
  for (const { path, bytes } of after.files.slice(before.files.length)) {
    if ((await readFileSize(join(folder, path))) === bytes) continue;
    throw new Fault(
      "DATABASE_BUSY",
      `${folder}/${path} was deleted or replaced before it was listed: another process exports into this folder, from another database. Let one of them finish, and run this again.`,
    );
  }
  await writeManifest(folder, after);
}

/** Writes the rows of a range under a partial name; null without rows. */
async function writeTable(
  session: QueryRunner,
  { name, columns, readPages }: ExportTable,
  range: ExportedRange,
  { folder, signal }: Pick<ExportOptions, "folder" | "signal">,
): Promise<ManifestFile | null> {
  const path = filePath(name, range);
  let file: ParquetFile | null = null;
  try {
    for await (const rows of readPages(session, range)) {
      signal.throwIfAborted();
      if (!file) {
        await mkdir(join(folder, name), { recursive: true });
        file = await ParquetFile.create(partialPath(join(folder, path)), columns);
      }
      await file.append(rows);
    }
    return file ? { table: name, path, ...range, ...(await file.finish()) } : null;
  } catch (error) {
    await file?.abandon();
    throw error;
  }
}
