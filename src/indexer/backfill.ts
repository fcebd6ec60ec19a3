// Finalized history, in large batches: the next one is read and completed while the last one is written.
import type { Batch, BlockSummary, Folded, IndexingContext, LogRange, WrittenBatch } from "./ports.ts";

type Prepared = { readonly batch: Batch; readonly blocks: number };

// Statements and commits have a price of their own, which this many logs make small; more would only cost memory.
const LOGS_PER_WRITE_MAX = 6_000;

/** A batch whose logs are folded, and what will be told of it: the logs themselves are needed no longer. */
type Ready = { readonly folded: Folded; readonly told: Omit<WrittenBatch, "ms"> };

/** A batch on its way into the database. */
type Writing = { readonly folded: Folded; readonly over: Promise<WrittenBatch> };

/**
 * Indexes the blocks from `from` to `to`, which must be final, and tells of each batch written. Three batches are under
 * way at a time: one is read, the one before it folded, and the one before that written. Whatever has been read while
 * a batch was written goes into the next one, so that a slow database gets larger batches and a slow node smaller
 * ones, sooner.
 */
export async function* backfill(
  parts: IndexingContext,
  range: { from: number; to: number },
  signal: AbortSignal,
): AsyncGenerator<WrittenBatch, void, void> {
  const ranges = parts.chain.streamHistory(range.from, range.to, signal)[Symbol.asyncIterator]();
  const prepareNext = (): Promise<Prepared | null> => {
    const next = ranges.next().then((found) => (found.done ? null : prepare(parts, found.value, signal)));
    // Its turn to be awaited comes later; a failure meanwhile must not count as unhandled.
    next.catch(() => undefined);
    return next;
  };
  let upcoming = prepareNext();
  /** All that is ready by the time the database is, within the limit; null at the end. */
  const gather = async (database: Promise<unknown>): Promise<Prepared | null> => {
    const idle = database.then(stop, stop);
    const gathered: Prepared[] = [];
    for (let waiting = 0; waiting < LOGS_PER_WRITE_MAX; ) {
      const next = await (gathered.length === 0 ? upcoming : Promise.race([idle, upcoming.catch(stop)]));
      if (next === null) break;
      gathered.push(next);
      waiting += next.batch.logs.length;
      upcoming = prepareNext();
    }
    return gathered.length === 0 ? null : joined(gathered);
  };
  let writing: Writing | null = null;
  const foldNext = async (): Promise<Ready | null> => {
    const prepared = await gather(writing?.over ?? Promise.resolve());
    if (prepared === null) return null;
    const { batch, blocks } = prepared;
    const folded = await parts.store.fold(batch, parts.protocol.fold, writing?.folded ?? null);
    return { folded, told: { tip: batch.tip, logs: batch.logs.length, blocks } };
  };
  try {
    for (let next = await foldNext(); next !== null; next = await foldNext()) {
      const written: WrittenBatch | undefined = await writing?.over;
      writing = { folded: next.folded, over: write(next) };
      if (written) yield written;
    }
    if (writing) yield await writing.over;
  } catch (error) {
    // What is written is told, whatever became of the next one.
    if (writing) yield await writing.over;
    throw error;
  } finally {
    // Whoever begins anew must find either all of that batch or nothing.
    await writing?.over.catch(() => undefined);
    await ranges.return?.();
  }
}

const stop = () => null;

function write({ folded, told }: Ready): Promise<WrittenBatch> {
  const started = performance.now();
  const over = folded.write().then(() => ({ ...told, ms: performance.now() - started }));
  // Heard when its turn comes.
  over.catch(() => undefined);
  return over;
}

/** Neighbouring batches as one. */
function joined(prepared: readonly Prepared[]): Prepared {
  const batches = prepared.map(({ batch }) => batch);
  const last = batches.at(-1);
  if (!last) throw new Error("no batches are to be joined");
  // Of the empty blocks only the tip matters.
  const blocks = batches.flatMap((batch) =>
    batch === last ? batch.blocks : batch.blocks.filter(({ logCount }) => logCount > 0),
  );
  return {
    batch: { ...last, blocks, logs: batches.flatMap(({ logs }) => logs) },
    blocks: prepared.reduce((sum, each) => sum + each.blocks, 0),
  };
}

async function prepare(
  { chain, protocol }: IndexingContext,
  range: LogRange,
  signal: AbortSignal,
): Promise<Prepared> {
  const [logs, [tip]] = await Promise.all([
    protocol.addDetails(range.logs, signal),
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
  // The tip is remembered even when it is empty: the live part starts from its hash.
  if (!counts.has(tip.number)) counts.set(tip.number, { ...refOf(tip), logCount: 0 });
  const batch = { tip: refOf(tip), blocks: [...counts.values()], logs, finalized: tip.number };
  return { batch, blocks: range.toBlock - range.fromBlock + 1 };
}

function refOf({ number, hash, timestamp }: BlockSummary): BlockSummary {
  return { number, hash, timestamp };
}
