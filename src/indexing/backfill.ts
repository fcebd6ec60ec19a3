// Finalized history, in large batches: the next one is read and completed while the last one is written.
import type { Batch, BlockRef, IndexParts, LogRange, Written } from "./ports.ts";

type Prepared = { readonly batch: Batch; readonly blocks: number };

// Statements and commits have a price of their own, which this many logs make small; more would only cost memory.
const LOGS_PER_WRITE_MAX = 5_000;

/**
 * Indexes the blocks from `from` to `to`, which must be final, and tells of each batch written. Whatever has been
 * completed while a batch was written goes into the next one, so that a slow database gets larger batches and a slow
 * node smaller ones, sooner.
 */
export async function* backfill(
  parts: IndexParts,
  range: { from: number; to: number },
  signal: AbortSignal,
): AsyncGenerator<Written, void, void> {
  const ranges = parts.chain.history(range.from, range.to, signal)[Symbol.asyncIterator]();
  const prepareNext = (): Promise<Prepared | null> => {
    const next = ranges.next().then((found) => (found.done ? null : prepare(parts, found.value, signal)));
    // Its turn to be awaited comes later; a failure meanwhile must not count as unhandled.
    next.catch(() => undefined);
    return next;
  };
  const stop = () => null;
  try {
    let ready = await prepareNext();
    let upcoming = prepareNext();
    while (ready !== null) {
      const { tip, logs } = ready.batch;
      const started = performance.now();
      const writing = parts.store.write(ready.batch, parts.protocol.fold);
      // Says only when it is over; whether it failed is heard below.
      const over = writing.then(stop, stop);
      const gathered: Prepared[] = [];
      for (let waiting = 0; waiting < LOGS_PER_WRITE_MAX; ) {
        const next = await Promise.race([over, upcoming.catch(stop)]);
        if (next === null) break;
        gathered.push(next);
        waiting += next.batch.logs.length;
        upcoming = prepareNext();
      }
      await writing;
      yield { tip, logs: logs.length, blocks: ready.blocks, ms: performance.now() - started };
      if (gathered.length > 0) ready = joined(gathered);
      else {
        ready = await upcoming;
        upcoming = prepareNext();
      }
    }
  } finally {
    await ranges.return?.();
  }
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
  { chain, protocol }: IndexParts,
  range: LogRange,
  signal: AbortSignal,
): Promise<Prepared> {
  const [logs, [tip]] = await Promise.all([
    protocol.detail(range.logs, signal),
    chain.headers([range.toBlock], signal),
  ]);
  if (!tip) throw new Error(`the node has logs up to block ${range.toBlock}, but not the block itself`);
  const counts = new Map<number, BlockRef & { logCount: number }>();
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

function refOf({ number, hash, timestamp }: BlockRef): BlockRef {
  return { number, hash, timestamp };
}
