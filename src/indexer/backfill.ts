// Backfill: indexes finalized history in large batches and reads the next batch while the last one is written.
import { setTimeout as sleep } from "node:timers/promises";
import type { LogBatch } from "../chain/logs/stream-logs.ts";
import type { DecodedLog } from "../protocol/decode-logs.ts";
import type { AddDetails } from "../protocol/details/read-details.ts";
import { foldLogs } from "../protocol/fold.ts";
import type { BlockSummary } from "../schema/chain-log.ts";
import type { StoredBlock } from "../store/index/checkpoint.ts";
import type { IndexStore, PreparedBatch } from "../store/index/store.ts";
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

type ReadPart = {
  readonly part: { readonly blocks: readonly StoredBlock[]; readonly logs: readonly DecodedLog[] };
  readonly tip: BlockSummary;
  readonly blocks: number;
};

// Amortizes what a batch costs in the database, about 70 ms of processor time, and rows that change often are written
// once a batch. Larger ones save little and cost memory.
const LOGS_PER_WRITE_MAX = 6_000;
// Rows of a slow node become visible meanwhile, and a process that dies loses no more than this. A second cut the batches
// of most nodes, and of a busy machine, into small ones, which cost the database several times as much an event.
const COLLECT_MS_MAX = 3_000;

// While one is folded, others wait for a node that may be a tenth of a second away.
const PARTS_AHEAD = 3;

/** A folded batch with what will be reported of it. */
type ReadyBatch = { readonly prepared: PreparedBatch; readonly summary: Omit<WrittenBatch, "ms"> };

type WriteInFlight = { readonly prepared: PreparedBatch; readonly done: Promise<WrittenBatch> };

/**
 * Indexes the blocks from `from` to `to`, which must be final, and yields each batch once it is written. Three batches
 * are in flight: one is read, the one before it folded, and the one before that written. A batch takes in what is read
 * until it is full, or until the database has waited for it.
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
  readonly #closing = new AbortController();
  readonly #ranges: AsyncIterator<LogBatch>;
  /** In order; the first is the next to be folded. */
  readonly #upcoming: Promise<ReadPart | null>[] = [];
  #writing: WriteInFlight | null = null;

  constructor(
    context: IndexingContext,
    { from, to }: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
    this.#ranges = context.chain.streamHistory(from, to, this.#signal)[Symbol.asyncIterator]();
    this.#readAhead();
  }

  /** Folds what is read into a batch, upon the one that may still be in flight; null at the end of the range. */
  async foldNext(): Promise<ReadyBatch | null> {
    let read = await this.#next();
    if (read === null) return null;
    const { prepared: previous = null, done = null } = this.#writing ?? {};
    const waited = Promise.allSettled([done, sleep(COLLECT_MS_MAX, null, { ref: false })]).then(resolveNull);
    const batch = this.#context.store.open({ final: true, previous });
    let [logs, blocks] = [0, 0];
    for (;;) {
      const { part, tip } = read;
      this.#upcoming.shift();
      this.#readAhead();
      await batch.add(part, (rows) => foldLogs(part.logs, rows));
      logs += part.logs.length;
      blocks += read.blocks;
      // A read that fails is reported by the next batch: this one can be written.
      const next = await Promise.race([waited, this.#next().catch(resolveNull)]);
      if (next === null || logs + next.part.logs.length > LOGS_PER_WRITE_MAX) {
        const prepared = await batch.finish({ tip, finalized: tip.number });
        return { prepared, summary: { tip, logs, blocks } };
      }
      read = next;
    }
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
    this.#closing.abort();
    await this.#ranges.return?.();
  }

  /** Null after the last part. */
  #next(): Promise<ReadPart | null> {
    return this.#upcoming[0] ?? Promise.resolve(null);
  }

  #readAhead(): void {
    while (this.#upcoming.length < PARTS_AHEAD) {
      const next = this.#ranges
        .next()
        .then((found) => (found.done ? null : readPart(this.#context, found.value, this.#signal)));
      // Awaited later; avoid an unhandled rejection.
      next.catch(() => undefined);
      this.#upcoming.push(next);
    }
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

async function readPart(
  { chain, addDetails }: IndexingContext,
  range: LogBatch,
  signal: AbortSignal,
): Promise<ReadPart> {
  const [logs, [tip]] = await Promise.all([
    addDetails(range.logs, signal),
    chain.readHeaders([range.toBlock], signal),
  ]);
  if (!tip) throw new Error(`the node has logs up to block ${range.toBlock}, but not the block itself`);
  const counts = new Map<number, StoredBlock>();
  for (const { blockNumber, blockHash, blockTimestamp } of range.logs) {
    const known = counts.get(blockNumber)?.logCount ?? 0;
    counts.set(blockNumber, {
      number: blockNumber,
      hash: blockHash,
      timestamp: blockTimestamp,
      logCount: known + 1,
    });
  }
  const part = { blocks: [...counts.values()], logs };
  return { part, tip: summarize(tip), blocks: range.toBlock - range.fromBlock + 1 };
}

function summarize({ number, hash, timestamp }: BlockSummary): BlockSummary {
  return { number, hash, timestamp };
}
