// Live indexing: follows the blocks that are not final yet by hash, and rolls back when the chain forks.
import { Fault } from "../lib/fault.ts";
import { foldLogs } from "../protocol/fold.ts";
import type { BlockHeader, BlockSummary } from "../schema/chain-log.ts";
import type { Checkpoint } from "../store/index/checkpoint.ts";
import type { IndexStore } from "../store/index/store.ts";
import type { IndexingContext, WrittenBatch } from "./backfill.ts";

/** The result of one step towards the head. */
type SyncStep =
  | { readonly kind: "written"; readonly written: WrittenBatch }
  | { readonly kind: "rolledBack"; readonly to: BlockSummary; readonly depth: number }
  | { readonly kind: "synced" };

// Catching up in groups saves a round trip and a commit per block; a group is small enough to redo.
export const BLOCKS_PER_STEP_MAX = 64;

/** Moves the index one step towards `head`; call it until it returns "synced". */
export async function stepTowards(
  context: IndexingContext,
  position: Checkpoint,
  head: BlockHeader,
  finalized: Promise<number>,
  signal: AbortSignal,
): Promise<SyncStep> {
  const { block } = position;
  // A head behind the index means that the node lags or restarts, unless its hash differs.
  if (head.number <= block.number) {
    if (await isIndexed(context.store, head)) return { kind: "synced" };
    // The head itself may be orphaned by now: then the chain still has our block, and another head will follow.
    return (await rollBackToCommonAncestor(context, position, head.number, signal)) ?? { kind: "synced" };
  }
  // The usual case: the next block, whose header is here already.
  if (head.number === block.number + 1 && head.parentHash === block.hash) {
    return { kind: "written", written: await writeHead(context, head, finalized, signal) };
  }
  const count = Math.min(BLOCKS_PER_STEP_MAX, head.number - block.number);
  const numbers = Array.from({ length: count }, (_, index) => block.number + 1 + index);
  const headers = await context.chain.readHeaders(numbers, signal);
  if (headers[0]?.parentHash !== block.hash) {
    const step = await rollBackToCommonAncestor(context, position, block.number, signal);
    if (step) return step;
    throw new Fault(
      "NODE_UNAVAILABLE",
      `The node returned headers of two branches at block ${block.number}.`,
    );
  }
  return { kind: "written", written: await writeBlocks(context, headers, () => finalized, signal) };
}

/** Nothing is written unless the node also knows the head by its hash, which is read together with its logs. */
async function writeHead(
  context: IndexingContext,
  head: BlockHeader,
  finalized: Promise<number>,
  signal: AbortSignal,
): Promise<WrittenBatch> {
  const confirmed = context.chain.confirmHeader(head, signal);
  const [written] = await Promise.all([
    writeBlocks(context, [head], () => confirmed.then(() => finalized), signal),
    confirmed,
  ]);
  return written;
}

/** The result of `readFinalized` is awaited before anything is written. */
async function writeBlocks(
  { chain, addDetails, store }: IndexingContext,
  headers: readonly BlockHeader[],
  readFinalized: () => Promise<number>,
  signal: AbortSignal,
): Promise<WrittenBatch> {
  const perBlock = await Promise.all(headers.map((header) => chain.readBlockLogs(header, signal)));
  const logs = await addDetails(perBlock.flat(), signal);
  const blocks = headers.map(({ number, hash, timestamp }, index) => ({
    number,
    hash,
    timestamp,
    logCount: perBlock[index]?.length ?? 0,
  }));
  const tip = blocks.at(-1);
  if (!tip) throw new Error("empty batch");
  const finalized = await readFinalized();
  const started = performance.now();
  const safe = chain.getSafeBlock();
  const batch = { tip, blocks, logs, finalized, safe };
  const prepared = await store.prepare(batch, (rows) => foldLogs(logs, rows), null);
  await prepared.write();
  return { tip, logs: logs.length, blocks: headers.length, ms: performance.now() - started };
}

async function isIndexed(store: IndexStore, head: BlockHeader): Promise<boolean> {
  const [stored] = await store.readBlocksDescending(head.number, 1);
  // Final empty blocks are not stored; a node that far back only lags.
  return stored === undefined || stored.number !== head.number || stored.hash === head.hash;
}

/**
 * Walks back from a block to the last one that the chain still has, and rolls back everything after it; null when the
 * chain has the block it started from.
 */
export async function rollBackToCommonAncestor(
  { chain, store }: IndexingContext,
  position: Checkpoint,
  from: number,
  signal: AbortSignal,
): Promise<Extract<SyncStep, { kind: "rolledBack" }> | null> {
  for (let top = from; ; ) {
    const stored = await store.readBlocksDescending(top, BLOCKS_PER_STEP_MAX);
    const candidates = stored.filter(({ number }) => number >= position.finalized);
    const headers = await chain.readHeaders(
      candidates.map(({ number }) => number),
      signal,
    );
    const ancestor = candidates.find(({ hash }, index) => headers[index]?.hash === hash);
    if (ancestor && ancestor.number === from) return null;
    if (ancestor) {
      await store.rollback(ancestor);
      return { kind: "rolledBack", to: ancestor, depth: position.block.number - ancestor.number };
    }
    const lowest = candidates.at(-1);
    if (!lowest || candidates.length < stored.length || stored.length < BLOCKS_PER_STEP_MAX) {
      throw reorgTooDeep(position);
    }
    top = lowest.number - 1;
  }
}

function reorgTooDeep({ finalized }: Checkpoint): Fault {
  return new Fault(
    "REORG_TOO_DEEP",
    `The chain differs from the index at block ${finalized}, which was final; nothing was deleted. Check that ` +
      "RPC_URL is a healthy node of the right chain; if the chain really was rewritten, index it again into another DATABASE_SCHEMA.",
  );
}
