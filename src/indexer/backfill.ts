// Backfill: indexes finalized history in large batches and reads the next batch while the last one is written.
import type { LogBatch } from "../chain/logs/stream-logs.ts";
import type { DecodedLog } from "../protocol/decode-logs.ts";
import type { AddDetails } from "../protocol/details/read-details.ts";
import { foldLogs } from "../protocol/fold.ts";
import type { BlockSummary } from "../schema/chain-log.ts";
import type { RowVersions } from "../store/index/row-versions.ts";
import type { IndexBatch, IndexStore, PreparedBatch } from "../store/index/store.ts";
import type { ChainSource } from "./chain-source.ts";

/** The context of every step of the indexing loop. */
export type IndexingContext = {
  readonly chain: ChainSource;
  readonly addDetails: AddDetails;
  readonly store: IndexStore;
};

/** The contents of one transaction, and how long the database took. */
export type WrittenBatch = {
  readonly tip: BlockSummary;
  readonly logs: number;
  readonly blocks: number;
  readonly ms: number;
};

type ReadBatch = {
  readonly batch: IndexBatch & { readonly logs: readonly DecodedLog[] };
  readonly blocks: number;
};

// Amortizes the fixed cost of statements and commits; larger batches only cost memory.
const LOGS_PER_WRITE_MAX = 4_000;

/** A folded batch with what will be reported of it. Does not hold the logs, which are no longer needed. */
type ReadyBatch = { readonly prepared: PreparedBatch; readonly summary: Omit<WrittenBatch, "ms"> };

type WriteInFlight = { readonly prepared: PreparedBatch; readonly done: Promise<WrittenBatch> };

/**
 * Indexes the blocks from `from` to `to`, which must be final, and yields each batch once it is written. Three batches
 * are in flight: one is read, the one before it folded, and the one before that written. A batch takes in everything
 * that was read while its predecessor was written, so a slow database gets larger batches and a slow node smaller ones.
 */
export async function* backfill(
  context: IndexingContext,
  range: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): AsyncGenerator<WrittenBatch, void, void> {
  const pipeline = new BackfillPipeline(context, range, signal);
  try {
    for (let next = await pipeline.foldNext(); next !== null; next = await pipeline.foldNext()) {
      const written = await pipeline.writeNext(next);
      if (written) yield written;
    }
    const last = await pipeline.finishWrite();
    if (last) yield last;
  } catch (error) {
    // Report the written batch even if the next one failed.
    const last = await pipeline.finishWrite();
    if (last) yield last;
    throw error;
  } finally {
    await pipeline.close();
  }
}

class BackfillPipeline {
  readonly #context: IndexingContext;
  readonly #signal: AbortSignal;
  readonly #ranges: AsyncIterator<LogBatch>;
  #upcoming: Promise<ReadBatch | null>;
  #writing: WriteInFlight | null = null;

  constructor(
    context: IndexingContext,
    { from, to }: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#signal = signal;
    this.#ranges = context.chain.streamHistory(from, to, signal)[Symbol.asyncIterator]();
    this.#upcoming = this.#readNext();
  }

  /** Folds everything read so far, upon the batch that may still be in flight; null at the end of the range. */
  async foldNext(): Promise<ReadyBatch | null> {
    const read = await this.#collectRead(this.#writing?.done ?? Promise.resolve());
    if (read === null) return null;
    const { batch, blocks } = read;
    const previous = this.#writing?.prepared ?? null;
    const changeRows = (rows: RowVersions) => foldLogs(batch.logs, rows);
    const prepared = await this.#context.store.prepare(batch, changeRows, previous);
    return { prepared, summary: { tip: batch.tip, logs: batch.logs.length, blocks } };
  }

  /** Waits for the write in flight and starts the next one; returns the batch that was written meanwhile. */
  async writeNext(next: ReadyBatch): Promise<WrittenBatch | undefined> {
    const written = await this.#writing?.done;
    this.#writing = { prepared: next.prepared, done: writeBatch(next) };
    return written;
  }

  async finishWrite(): Promise<WrittenBatch | undefined> {
    return this.#writing?.done;
  }

  async close(): Promise<void> {
    // Wait for the batch in flight: a restart must find it committed or absent.
    await this.#writing?.done.catch(() => undefined);
    await this.#ranges.return?.();
  }

  #readNext(): Promise<ReadBatch | null> {
    const next = this.#ranges
      .next()
      .then((found) => (found.done ? null : readBatch(this.#context, found.value, this.#signal)));
    // Awaited later; avoid an unhandled rejection.
    next.catch(() => undefined);
    return next;
  }

  /** Everything that is read by the time the database is idle, up to the limit; null at the end of the range. */
  async #collectRead(database: Promise<unknown>): Promise<ReadBatch | null> {
    const idle = database.then(resolveNull, resolveNull);
    const collected: ReadBatch[] = [];
    for (let logs = 0; logs < LOGS_PER_WRITE_MAX; ) {
      const next = await (collected.length === 0
        ? this.#upcoming
        : Promise.race([idle, this.#upcoming.catch(resolveNull)]));
      // Logs that would exceed the limit stay for the next batch.
      if (next === null || (logs > 0 && logs + next.batch.logs.length > LOGS_PER_WRITE_MAX)) break;
      collected.push(next);
      logs += next.batch.logs.length;
      this.#upcoming = this.#readNext();
    }
    return collected.length === 0 ? null : mergeBatches(collected);
  }
}

const resolveNull = () => null;

function writeBatch({ prepared, summary }: ReadyBatch): Promise<WrittenBatch> {
  const started = performance.now();
  const done = prepared.write().then(() => ({ ...summary, ms: performance.now() - started }));
  // Awaited later; avoid an unhandled rejection.
  done.catch(() => undefined);
  return done;
}

/** Merges adjacent batches into one. */
function mergeBatches(read: readonly ReadBatch[]): ReadBatch {
  const batches = read.map(({ batch }) => batch);
  const last = batches.at(-1);
  if (!last) throw new Error("no batches to merge");
  // Only the last of the empty blocks matters.
  const blocks = batches.flatMap((batch) =>
    batch === last ? batch.blocks : batch.blocks.filter(({ logCount }) => logCount > 0),
  );
  return {
    batch: { ...last, blocks, logs: batches.flatMap(({ logs }) => logs) },
    blocks: read.reduce((sum, each) => sum + each.blocks, 0),
  };
}

async function readBatch(
  { chain, addDetails }: IndexingContext,
  range: LogBatch,
  signal: AbortSignal,
): Promise<ReadBatch> {
  const [logs, [tip]] = await Promise.all([
    addDetails(range.logs, signal),
    chain.readHeaders([range.toBlock], signal),
  ]);
  if (!tip) throw new Error(`the node has logs up to block ${range.toBlock}, but not the block itself`);
  const counts = new Map<number, BlockSummary & { logCount: number }>();
  for (const { blockNumber, blockHash, blockTimestamp } of range.logs) {
    const known = counts.get(blockNumber)?.logCount ?? 0;
    counts.set(blockNumber, {
      number: blockNumber,
      hash: blockHash,
      timestamp: blockTimestamp,
      logCount: known + 1,
    });
  }
  // Store the tip even when it is empty: live indexing starts from its hash.
  if (!counts.has(tip.number)) counts.set(tip.number, { ...summarize(tip), logCount: 0 });
  const batch = { tip: summarize(tip), blocks: [...counts.values()], logs, finalized: tip.number };
  return { batch, blocks: range.toBlock - range.fromBlock + 1 };
}

function summarize({ number, hash, timestamp }: BlockSummary): BlockSummary {
  return { number, hash, timestamp };
}
