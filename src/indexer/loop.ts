// The indexing loop: backfills history, then follows the head until it is stopped; retries every failure with backoff.
import { type Clock, systemClock } from "../lib/clock.ts";
import { Fault, type FaultCode } from "../lib/fault.ts";
import type { BlockHeader, BlockSummary } from "../schema/chain-log.ts";
import type { Checkpoint } from "../store/index/checkpoint.ts";
import { SQLSTATE, sqlState } from "../store/postgres/errors.ts";
import { backfill, type IndexingContext, type WrittenBatch } from "./backfill.ts";
import { BLOCKS_PER_STEP_MAX, rollBackToCommonAncestor, stepTowards } from "./live.ts";

export type IndexingReporter = {
  onBackfillStart(range: { from: number; to: number }): void;
  onBatchWritten(written: WrittenBatch, phase: "backfill" | "live"): void;
  onHead(head: BlockSummary): void;
  onSynced(position: Checkpoint): void;
  onRollback(to: BlockSummary, depth: number): void;
  onFailure(error: unknown, retryMs: number): void;
};

type IndexChainOptions = {
  readonly startBlock: number;
  /** Awaited whenever all history is indexed, before new blocks are followed. */
  readonly onCaughtUp: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly report: IndexingReporter;
  readonly clock?: Clock;
};

// Retry a failing node or database soon, without hammering it.
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
// One wrong response about an old block must not end the process; a node that repeats it must.
const REORG_TOO_DEEP_ATTEMPTS = 4;

/** Runs until the signal aborts. Rejects only for failures that are not retryable. */
export async function indexChain(context: IndexingContext, options: IndexChainOptions): Promise<void> {
  const clock = options.clock ?? systemClock;
  let failures = 0;
  const report: IndexingReporter = {
    ...options.report,
    onBatchWritten: (written, phase) => {
      failures = 0;
      options.report.onBatchWritten(written, phase);
    },
  };
  while (!options.signal.aborted) {
    try {
      // After a failure, read the position from the database again: it alone knows what was committed.
      await catchUp(context, { ...options, report });
      await options.onCaughtUp();
      await follow(context, { ...options, report });
    } catch (error) {
      if (options.signal.aborted) return;
      failures += 1;
      if (!isRetryable(error, failures)) throw error;
      const retryMs = Math.min(RETRY_MS_MIN * 2 ** Math.min(failures - 1, 16), RETRY_MS_MAX);
      options.report.onFailure(error, retryMs);
      await clock.sleep(retryMs, options.signal).catch(() => undefined);
    }
  }
}

// Not retryable: an operator has to act, or (for the lock) another process writes now.
const FINAL: ReadonlySet<FaultCode> = new Set([
  "CHAIN_MISMATCH",
  "DEPLOYMENT_MISMATCH",
  "DATABASE_INCOMPATIBLE",
  "DATABASE_LOCK_LOST",
]);

// Everything else is retried at the failing block, even a bug: an operator, a better node or the next version may fix
// it. The indexer never skips a block.
function isRetryable(error: unknown, failures: number): boolean {
  // Without its tables no later attempt can succeed; they are created at the start.
  if (sqlState(error) === SQLSTATE.undefinedTable) return false;
  if (!(error instanceof Fault)) return true;
  if (error.code === "REORG_TOO_DEEP") return failures < REORG_TOO_DEEP_ATTEMPTS;
  return !FINAL.has(error.code);
}

/** Brings the index to the finalized block. */
async function catchUp(context: IndexingContext, options: IndexChainOptions): Promise<void> {
  for (;;) {
    const finalized = await context.chain.readFinalized(options.signal);
    const position = (await context.store.readCheckpoint()) ?? (await writeStartBlock(context, options));
    const from = position.block.number + 1;
    if (from > finalized.number) return;
    // The last indexed block may have been replaced before it became final: verify it before building on it.
    const [header] = await context.chain.readHeaders([position.block.number], options.signal);
    if (header?.hash !== position.block.hash) {
      const step = await rollBackToCommonAncestor(context, position, position.block.number, options.signal);
      if (step) options.report.onRollback(step.to, step.depth);
      continue;
    }
    options.report.onBackfillStart({ from, to: finalized.number });
    for await (const written of backfill(context, { from, to: finalized.number }, options.signal)) {
      options.report.onBatchWritten(written, "backfill");
    }
  }
}

/** Writes the checkpoint of an empty index: the block before the deployment. */
async function writeStartBlock(
  { chain, store }: IndexingContext,
  options: IndexChainOptions,
): Promise<Checkpoint> {
  const number = Math.max(0, options.startBlock - 1);
  const [header] = await chain.readHeaders([number], options.signal);
  if (!header) throw new Error(`node returned no header for block ${number}`);
  const tip = { number, hash: header.hash, timestamp: header.timestamp };
  const blocks = [{ ...tip, logCount: 0 }];
  const batch = { tip, blocks, logs: [], finalized: number };
  const prepared = await store.prepare(batch, async () => undefined, null);
  await prepared.write();
  return { block: tip, finalized: number };
}

async function follow(context: IndexingContext, options: IndexChainOptions): Promise<void> {
  for await (const head of context.chain.followHeads(options.signal)) {
    options.report.onHead(head);
    // Read together with the block itself, which needs it only when it is written.
    const finalized = context.chain.readFinalized(options.signal).then(({ number }) => number);
    // A step that awaits it gets the failure; one that fails earlier does not await it.
    finalized.catch(() => undefined);
    const isNearHead = await syncTo(context, head, finalized, options);
    if (!isNearHead || options.signal.aborted) return;
  }
}

/** No finalized block is above the head, so that near it nothing has to be awaited. */
async function isFarBehind(
  { block }: Checkpoint,
  head: BlockHeader,
  finalized: Promise<number>,
): Promise<boolean> {
  const near = block.number + BLOCKS_PER_STEP_MAX;
  return near < head.number && near < (await finalized);
}

/** False when so many blocks became final meanwhile that a backfill reads them faster. */
async function syncTo(
  context: IndexingContext,
  head: BlockHeader,
  finalized: Promise<number>,
  options: IndexChainOptions,
): Promise<boolean> {
  while (!options.signal.aborted) {
    const position = await context.store.readCheckpoint();
    if (!position || (await isFarBehind(position, head, finalized))) return false;
    const step = await stepTowards(context, position, head, finalized, options.signal);
    if (step.kind === "written") options.report.onBatchWritten(step.written, "live");
    else if (step.kind === "rolledBack") options.report.onRollback(step.to, step.depth);
    else {
      options.report.onSynced(position);
      return true;
    }
  }
  return true;
}
