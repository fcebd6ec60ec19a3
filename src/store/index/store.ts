// The index in the database: rows, raw logs, block hashes and checkpoint, changed together or not at all.
import type { Table } from "../../schema/table.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import { buildChangeNotification } from "../postgres/change-notifications.ts";
import type { Database } from "../postgres/database.ts";
import { sqlState } from "../postgres/errors.ts";
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
import { buildLogsStep, type StoredDetailedLog } from "./raw-logs.ts";
import {
  createOverlayLoader,
  createRowVersions,
  type RowVersions,
  type TableVersions,
} from "./row-versions.ts";
import { buildPruneTableSteps, buildVersionSteps, createRowLoader, rollbackTable } from "./versioned-rows.ts";

export type IndexBatch = {
  readonly tip: Checkpoint["block"];
  readonly blocks: readonly StoredBlock[];
  readonly logs: readonly StoredDetailedLog[];
  readonly finalized: number;
};

export type Fold = (logs: readonly StoredDetailedLog[], rows: RowVersions) => Promise<void>;

/** A batch whose changes are made in memory, and not yet written. */
export type FoldedBatch = {
  latest: RowVersions["latest"];
  write(): Promise<void>;
};

export type IndexStore = {
  readCheckpoint(): Promise<Checkpoint | null>;
  /** `after` is the batch before, as long as it may not be written yet; one before that one must be. */
  fold(batch: IndexBatch, fold: Fold, after: FoldedBatch | null): Promise<FoldedBatch>;
  readBlocksDescending(number: number, limit: number): Promise<readonly Checkpoint["block"][]>;
  rollback(to: Checkpoint["block"]): Promise<void>;
};

// A batch of thousands of rows on a busy disk; far above what is ever seen, far below for ever.
const WRITE_MS_MAX = 300_000;

/** Every write happens on the connection that holds the lock: who has lost it can not write. */
export function openIndexStore(database: Database, lock: Lock, tables: readonly Table[]): IndexStore {
  const transaction = <T>(work: (session: Session) => Promise<T>) =>
    lock.transaction(work, { statementTimeoutMs: WRITE_MS_MAX });
  // The whole batch as bytes, made before its turn to be written comes: then only the server has something to do.
  const batchSteps = (batch: IndexBatch, changed: readonly TableVersions[]): PipelineStep[] => [
    buildLogsStep(batch.logs),
    ...versionSteps(batch, changed),
    buildBlocksStep(batch.blocks),
    buildCheckpointStep({ block: batch.tip, finalized: Math.min(batch.finalized, batch.tip.number) }),
    ...(batch.tip.number > batch.finalized ? pruneSteps(tables, batch.finalized) : []),
    buildChangeNotification(database.schema),
  ];
  return {
    readCheckpoint: () => readCheckpoint(database),
    readBlocksDescending: (number, limit) => readBlocksDescending(database, number, limit),
    fold: async (batch, fold, after) => {
      // Read beside the lock's connection, which may be busy with the batch before: nobody else writes these rows, and
      // those that batch has changed come from it.
      const stored = createRowLoader(database);
      let before = after;
      const rows = createRowVersions((...wanted) =>
        before ? createOverlayLoader(before, stored)(...wanted) : stored(...wanted),
      );
      await fold(batch.logs, rows);
      const steps = batchSteps(batch, await rows.finish());
      // Let go: each batch would hold the one before it, and the last one all there ever were.
      before = null;
      // Only this of the batch: its logs are in the steps, and would be kept twice while it is written.
      const from = firstBlock(batch);
      return {
        latest: rows.latest,
        write: () =>
          lock
            .commit([refuseDoubles(from), ...steps], { statementTimeoutMs: WRITE_MS_MAX })
            .catch(async (error) => {
              throw (await doubled(database, from, error)) ?? error;
            }),
      };
    },
    rollback: (to) =>
      transaction(async (session) => {
        const finalized = (await readCheckpoint(session))?.finalized ?? to.number;
        if (to.number < finalized)
          throw new Error(`block ${to.number} is final and can not be rolled back to`);
        for (const table of tables) await rollbackTable(session, table, to.number);
        await session.sendPipeline([
          ...buildDeleteChainSteps(to.number),
          buildCheckpointStep({ block: to, finalized }),
          buildChangeNotification(database.schema),
        ]);
      }),
  };
}

/** Folds logs and writes the versions of the rows they touch, in one transaction. */
export async function foldAndWrite(
  session: Session,
  batch: Pick<IndexBatch, "logs" | "finalized" | "tip">,
  fold: Fold,
): Promise<void> {
  const rows = createRowVersions(createRowLoader(session));
  await fold(batch.logs, rows);
  await session.sendPipeline(versionSteps(batch, await rows.finish()));
}

function versionSteps(
  batch: Pick<IndexBatch, "finalized" | "tip">,
  changed: readonly TableVersions[],
): PipelineStep[] {
  const final = batch.tip.number <= batch.finalized;
  return changed.flatMap((versions) => buildVersionSteps(versions, { final }));
}

// The same batch written twice, or one that does not follow, would double counters. The last guard against it divides
// by zero, so that it can be sent along with everything else and still stops all of it.
function refuseDoubles(from: number): PipelineStep {
  return {
    text: "select 1 / (case when block_number < $1 then 1 else 0 end) from checkpoint",
    values: [from],
  };
}

/** In words what that guard has refused; null where the failure was another. */
async function doubled(database: Database, from: number, cause: unknown): Promise<Error | null> {
  if (sqlState(cause) !== DIVISION_BY_ZERO) return null;
  const position = await readCheckpoint(database);
  return new Error(
    `blocks from ${from} are to be written, but the index is at ${position?.block.number} already`,
    { cause },
  );
}

const DIVISION_BY_ZERO = "22012";

function firstBlock({ blocks, tip }: IndexBatch): number {
  return blocks[0]?.number ?? tip.number;
}

function pruneSteps(tables: readonly Table[], finalized: number): PipelineStep[] {
  return [
    ...tables.flatMap((table) => buildPruneTableSteps(table, finalized)),
    buildPruneBlocksStep(finalized),
  ];
}
