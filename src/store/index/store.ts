// The index in the database: rows, raw logs, block hashes and checkpoint, changed atomically.
import type { LogWithDetails } from "../../schema/chain-log.ts";
import type { Table } from "../../schema/table.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import { buildChangeNotification } from "../postgres/change-notifications.ts";
import type { Database } from "../postgres/database.ts";
import { SQLSTATE, sqlState } from "../postgres/errors.ts";
import type { Session } from "../postgres/session.ts";
import {
  buildBlocksStep,
  buildCheckpointStep,
  buildDeleteChainSteps,
  buildPruneBlocksStep,
  type Checkpoint,
  readBlocksDescending,
  readCheckpoint,
  type StoredBlock,
} from "./checkpoint.ts";
import { buildReorgSteps } from "./integrity.ts";
import { buildLogsStep, encodeLogs, type LogForm, readLogForm } from "./raw-logs.ts";
import { RowCache } from "./row-cache.ts";
import { createOverlayLoader, RowVersions } from "./row-versions.ts";
import {
  bornIndexName,
  buildPruneTableSteps,
  buildVersionSteps,
  createRowLoader,
  rollbackTables,
  USE_INDEXES,
} from "./versioned-rows.ts";

export type IndexBatch = {
  readonly tip: Checkpoint["block"];
  readonly blocks: readonly StoredBlock[];
  readonly logs: readonly LogWithDetails[];
  readonly finalized: number;
  /** Absent or null if no node calls a block safe that is not final. */
  readonly safe?: number | null;
};

/** Makes the changes of logs to their rows. */
export type ChangeRows = (rows: RowVersions) => Promise<void>;

/** Whether no reorg can undo the blocks of a batch; and the batch before, unless it is known to be written. */
type BatchOptions = { readonly final: boolean; readonly previous: PreparedBatch | null };

/** A batch that grows part by part. Of the logs it keeps only the bytes that will be written. */
type OpenBatch = {
  add(part: Pick<IndexBatch, "blocks" | "logs">, changeRows: ChangeRows): Promise<void>;
  finish(end: Pick<IndexBatch, "tip" | "finalized" | "safe">): Promise<PreparedBatch>;
};

/** A batch whose rows are changed in memory, and not yet written. */
export type PreparedBatch = {
  readonly latest: RowVersions["latest"];
  write(): Promise<void>;
};

export type IndexStore = {
  readCheckpoint(): Promise<Checkpoint | null>;
  /** The batch before the previous one must be written. */
  open(options: BatchOptions): OpenBatch;
  /** A batch of one part. */
  prepare(batch: IndexBatch, changeRows: ChangeRows, previous: PreparedBatch | null): Promise<PreparedBatch>;
  readBlocksDescending(number: number, limit: number): Promise<readonly Checkpoint["block"][]>;
  rollback(to: Checkpoint["block"]): Promise<void>;
};

// Thousands of rows on a busy disk need seconds; this only ends a write that hangs.
const WRITE_MS_MAX = 300_000;

/**
 * Every write runs on the connection that holds the lock: a process that lost it cannot write. `createCache` makes the
 * memory of each chain of final batches.
 */
export function openIndexStore(
  database: Database,
  lock: Lock,
  tables: readonly Table[],
  createCache = () => new RowCache(),
): IndexStore {
  const transaction = <T>(work: (session: Session) => Promise<T>) =>
    lock.transaction(work, { statementTimeoutMs: WRITE_MS_MAX });
  let form: Promise<LogForm> | null = null;
  const logForm = () => {
    form ??= readLogForm(database).catch((error) => {
      form = null;
      throw error;
    });
    return form;
  };
  const caches: BatchContext["caches"] = new WeakMap();
  const summarize = createRowSummaries(lock, tables);
  const context = { database, lock, tables, logForm, summarize, caches, createCache };
  const open = (options: BatchOptions) => openBatch(context, options);
  return {
    readCheckpoint: () => readCheckpoint(database),
    readBlocksDescending: (number, limit) => readBlocksDescending(database, number, limit),
    open,
    prepare: async (batch, changeRows, previous) => {
      const opened = open({ final: isFinal(batch), previous });
      await opened.add(batch, changeRows);
      return opened.finish(batch);
    },
    rollback: (to) =>
      transaction(async (session) => {
        const finalized = (await readCheckpoint(session))?.finalized ?? to.number;
        if (to.number < finalized)
          throw new Error(`block ${to.number} is final and cannot be rolled back to`);
        await rollbackTables(session, tables, to.number);
        await session.sendPipeline([
          ...buildReorgSteps(to),
          ...buildDeleteChainSteps(to),
          buildCheckpointStep({ block: to, finalized }),
          buildChangeNotification(database.schema),
        ]);
      }),
  };
}

type BatchContext = {
  readonly database: Database;
  readonly lock: Lock;
  readonly tables: readonly Table[];
  /** Read once: it never changes while an indexer runs. */
  readonly logForm: () => Promise<LogForm>;
  readonly summarize: ReturnType<typeof createRowSummaries>;
  /** The rows that the next batch takes over from one that is prepared. */
  readonly caches: WeakMap<PreparedBatch, RowCache>;
  readonly createCache: () => RowCache;
};

/** Encoded before it is its turn: then only the server has work left. */
function openBatch(
  { database, lock, tables, logForm, summarize, caches, createCache }: BatchContext,
  { final, previous }: BatchOptions,
): OpenBatch {
  // Read outside the lock's connection, which may be busy with the previous batch. No other process writes these
  // rows, and those that the previous batch changed come from its memory.
  const cache = (previous && caches.get(previous)) ?? createCache();
  // Another batch upon the same one would be another chain.
  if (previous) caches.delete(previous);
  const stored = createOverlayLoader(cache, createRowLoader(database));
  let before = previous;
  const rows = new RowVersions(
    (table, keys) => (before ? createOverlayLoader(before, stored)(table, keys) : stored(table, keys)),
    { final },
  );
  const blocks: StoredBlock[] = [];
  const encodedLogs: Buffer[] = [];
  let logs = 0;
  return {
    add: async (part, changeRows) => {
      blocks.push(...part.blocks);
      logs += part.logs.length;
      if (part.logs.length > 0) encodedLogs.push(...encodeLogs(part.logs, await logForm()));
      await changeRows(rows);
    },
    finish: async ({ tip, finalized, safe }) => {
      const changed = await rows.finish();
      // Release the previous batch: otherwise every batch is retained through this closure.
      before = null;
      const steps: PipelineStep[] = [
        ...buildFollowsCheckpointSteps(blocks[0]?.number ?? tip.number),
        ...(encodedLogs.length > 0 ? [buildLogsStep(encodedLogs)] : []),
        ...changed.flatMap((versions) => buildVersionSteps(versions, { final })),
        // The tip is stored even if it is empty: live indexing starts from its hash.
        buildBlocksStep(blocks.at(-1)?.number === tip.number ? blocks : [...blocks, { ...tip, logCount: 0 }]),
        buildCheckpointStep({ block: tip, finalized: Math.min(finalized, tip.number) }, safe),
        ...(tip.number > finalized ? pruneSteps(tables, finalized) : []),
        buildChangeNotification(database.schema),
      ];
      const prepared: PreparedBatch = {
        latest: (table, keyText) => rows.latest(table, keyText),
        write: async () => {
          await lock.commit(steps, { statementTimeoutMs: WRITE_MS_MAX });
          await summarize(logs);
        },
      };
      if (final) {
        cache.remember(rows);
        caches.set(prepared, cache);
      }
      return prepared;
    },
  };
}

/** Changes rows and writes their versions, in one transaction; the cache is that of the transactions before. */
export async function writeRows(
  session: Session,
  batch: Pick<IndexBatch, "finalized" | "tip">,
  changeRows: ChangeRows,
  cache: RowCache,
): Promise<void> {
  const load = createOverlayLoader(cache, createRowLoader(session));
  const rows = new RowVersions(load, { final: isFinal(batch) });
  await changeRows(rows);
  const changed = await rows.finish();
  cache.remember(rows);
  const steps = changed.flatMap((versions) => buildVersionSteps(versions, { final: isFinal(batch) }));
  await session.sendPipeline([USE_INDEXES, ...steps]);
}

function isFinal({ tip, finalized }: Pick<IndexBatch, "finalized" | "tip">): boolean {
  return tip.number <= finalized;
}

/**
 * Fails the whole pipeline unless the batch begins after the checkpoint: a batch that is written twice would count events
 * twice. A DO block takes no parameters; a setting of the transaction keeps its text the same for every batch.
 */
function buildFollowsCheckpointSteps(from: number): PipelineStep[] {
  return [
    USE_INDEXES,
    { text: "select set_config('sextant.batch_from', $1, true)", values: [String(from)] },
    {
      text: `do $$
      declare
        batch_from bigint := current_setting('sextant.batch_from');
        indexed bigint := (select block_number from checkpoint);
      begin
        if indexed >= batch_from then
          raise exception 'cannot write blocks from %: the index is already at %', batch_from, indexed;
        end if;
      end $$`,
    },
  ];
}

function pruneSteps(tables: readonly Table[], finalized: number): PipelineStep[] {
  return [
    ...tables.flatMap((table) => buildPruneTableSteps(table, finalized)),
    buildPruneBlocksStep(finalized),
  ];
}

// A tenth of a second of work for several seconds of writing, while the pages are still in memory.
const LOGS_BETWEEN = 100_000;
// Autovacuum holds the same lock, summarizes as well, and would be cancelled if it were waited for.
const LOCK_WAIT_MS_MAX = 100;

/**
 * Keeps the BRIN indexes of the row tables complete, so that a rollback visits the last rows and not the whole table.
 * PostgreSQL summarizes new pages only in a vacuum, which comes after a fifth of a table is new, and every search visits
 * pages without a summary. Call the result after each committed batch; the first batch after a start takes in what a
 * process left that died.
 */
export function createRowSummaries(lock: Lock, tables: readonly Table[], logsBetween = LOGS_BETWEEN) {
  let logsLeft = 0;
  return async (logs: number): Promise<void> => {
    logsLeft -= logs;
    if (logsLeft > 0) return;
    logsLeft = logsBetween;
    for (const table of tables) await summarizeRows(lock, table);
  };
}

async function summarizeRows(lock: Lock, table: Table): Promise<void> {
  const summarize = lock.transaction(
    async (session) => {
      await session.query(`set local lock_timeout to ${LOCK_WAIT_MS_MAX}`);
      // An operator may have dropped the index: null, and nothing is done.
      await session.query(`select brin_summarize_new_values(to_regclass('${bornIndexName(table)}'))`);
    },
    { statementTimeoutMs: WRITE_MS_MAX },
  );
  await summarize.catch((error) => {
    if (sqlState(error) !== SQLSTATE.lockNotAvailable) throw error;
  });
}
