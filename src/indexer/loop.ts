// The indexing loop: history first, then the head, for as long as it is wanted; every failure is met with patience.
import { type Clock, systemClock } from "../lib/clock.ts";
import { Fault, type FaultCode } from "../lib/fault.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { backfill } from "./backfill.ts";
import { BLOCKS_PER_STEP_MAX, rollBackToCommonAncestor, stepTowards } from "./live.ts";
import type { BlockSummary, IndexingContext, Position, WrittenBatch } from "./ports.ts";

/** What the loop tells of itself as it goes. */
export type IndexingReporter = {
  onBackfillStart(range: { from: number; to: number }): void;
  onBatchWritten(written: WrittenBatch, phase: "backfill" | "live"): void;
  onHead(head: BlockSummary): void;
  onSynced(position: Position): void;
  onRollback(to: BlockSummary, depth: number): void;
  onFailure(error: unknown, retryMs: number): void;
};

export type IndexChainOptions = {
  readonly startBlock: number;
  readonly signal: AbortSignal;
  readonly report: IndexingReporter;
  readonly clock?: Clock;
};

// A failing node or database is asked again soon, but not hammered.
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
// A node that lies once about an old block must not end the process; one that insists must.
const TOO_DEEP_ANSWERS = 4;

/** Runs until the signal aborts. Rejects only for what waiting can not cure. */
export async function indexChain(parts: IndexingContext, options: IndexChainOptions): Promise<void> {
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
      // After any failure everything is read anew: what the database says is what happened.
      await catchUp(parts, { ...options, report });
      await follow(parts, { ...options, report });
    } catch (error) {
      if (options.signal.aborted) return;
      failures += 1;
      if (!isCurable(error, failures)) throw error;
      const retryMs = Math.min(RETRY_MS_MIN * 2 ** Math.min(failures - 1, 16), RETRY_MS_MAX);
      options.report.onFailure(error, retryMs);
      await clock.sleep(retryMs, options.signal).catch(() => undefined);
    }
  }
}

// Waiting cures none of these: somebody has to look, or (for the lock) somebody else writes now.
const FINAL: ReadonlySet<FaultCode> = new Set([
  "CHAIN_MISMATCH",
  "DEPLOYMENT_MISMATCH",
  "DATABASE_INCOMPATIBLE",
  "DATABASE_LOCK_LOST",
]);

// Everything else stays at the failing block, says so and tries again, even a defect of ours: an operator, a better
// node or the next version may cure it. Skipping is never an answer.
function isCurable(error: unknown, failures: number): boolean {
  if (!(error instanceof Fault)) return true;
  if (error.code === "REORG_TOO_DEEP") return failures < TOO_DEEP_ANSWERS;
  return !FINAL.has(error.code);
}

/** Brings the index to the finalized block. */
async function catchUp(parts: IndexingContext, options: IndexChainOptions): Promise<void> {
  for (;;) {
    const finalized = await parts.chain.readFinalized(options.signal);
    const position = (await parts.store.readCheckpoint()) ?? (await begin(parts, options));
    const from = position.block.number + 1;
    if (from > finalized.number) return;
    // What was indexed before it was final must be what the chain has before more is put on top of it.
    const [theirs] = await parts.chain.readHeaders([position.block.number], options.signal);
    if (theirs?.hash !== position.block.hash) {
      const step = await rollBackToCommonAncestor(parts, position, position.block.number, options.signal);
      if (step?.kind === "rolled back") options.report.onRollback(step.to, step.depth);
      continue;
    }
    options.report.onBackfillStart({ from, to: finalized.number });
    for await (const written of backfill(parts, { from, to: finalized.number }, options.signal)) {
      options.report.onBatchWritten(written, "backfill");
    }
  }
}

/** The block before the deployment is where everything starts from. */
async function begin(
  { chain, protocol, store }: IndexingContext,
  options: IndexChainOptions,
): Promise<Position> {
  const number = Math.max(0, options.startBlock - 1);
  const [header] = await chain.readHeaders([number], options.signal);
  if (!header) throw new Error(`block ${number} was not answered`);
  const tip = { number, hash: header.hash, timestamp: header.timestamp };
  const blocks = [{ ...tip, logCount: 0 }];
  const folded = await store.fold({ tip, blocks, logs: [], finalized: number }, protocol.fold, null);
  await folded.write();
  return { block: tip, finalized: number };
}

async function follow(parts: IndexingContext, options: IndexChainOptions): Promise<void> {
  for await (const head of parts.chain.followHeads(options.signal)) {
    options.report.onHead(head);
    const finalized = await parts.chain.readFinalized(options.signal);
    const near = await stepsTo(parts, head, finalized.number, options);
    if (!near || options.signal.aborted) return;
  }
}

/** False when history has grown behind us so much that it is better read as such. */
async function stepsTo(
  parts: IndexingContext,
  head: BlockHeader,
  finalized: number,
  options: IndexChainOptions,
): Promise<boolean> {
  while (!options.signal.aborted) {
    const position = await parts.store.readCheckpoint();
    if (!position || position.block.number + BLOCKS_PER_STEP_MAX < finalized) return false;
    const step = await stepTowards(parts, position, head, finalized, options.signal);
    if (step.kind === "written") options.report.onBatchWritten(step.written, "live");
    else if (step.kind === "rolled back") options.report.onRollback(step.to, step.depth);
    else {
      options.report.onSynced(position);
      return true;
    }
  }
  return true;
}
