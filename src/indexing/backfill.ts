// Finalized history, in large batches: the next one is read and completed while the last one is written.
import type { Batch, BlockRef, IndexParts, LogRange, Written } from "./ports.ts";

/** Indexes the blocks from `from` to `to`, which must be final, and tells of each batch written. */
export async function* backfill(
  parts: IndexParts,
  range: { from: number; to: number },
  signal: AbortSignal,
): AsyncGenerator<Written, void, void> {
  const ranges = parts.chain.history(range.from, range.to, signal)[Symbol.asyncIterator]();
  const prepareNext = async (): Promise<Prepared | null> => {
    const next = await ranges.next();
    return next.done ? null : prepare(parts, next.value, signal);
  };
  try {
    let upcoming = prepareNext();
    for (;;) {
      const ready = await upcoming;
      if (ready === null) return;
      upcoming = prepareNext();
      // Its turn to be awaited comes after the write; a failure meanwhile must not count as unhandled.
      upcoming.catch(() => undefined);
      const started = performance.now();
      await parts.store.write(ready.batch, parts.protocol.fold);
      const { tip, logs } = ready.batch;
      yield { tip, logs: logs.length, blocks: ready.blocks, ms: performance.now() - started };
    }
  } finally {
    await ranges.return?.();
  }
}

type Prepared = { readonly batch: Batch; readonly blocks: number };

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
