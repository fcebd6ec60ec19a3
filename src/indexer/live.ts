// The part of the chain that can still be undone: followed by hash, rolled back where it forks.
import { Fault } from "../lib/fault.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import type { BlockSummary, IndexingContext, Position, StorePort, WrittenBatch } from "./ports.ts";

/** What one look at the chain led to. */
export type SyncStep =
  | { readonly kind: "written"; readonly written: WrittenBatch }
  | { readonly kind: "rolled back"; readonly to: BlockSummary; readonly depth: number }
  | { readonly kind: "level" };

// Catching up in groups spares a round trip and a commit per block; a group is small enough to be redone.
export const BLOCKS_PER_STEP_MAX = 64;

/** Moves the index one step towards `head`; call again until it answers "level". */
export async function stepTowards(
  parts: IndexingContext,
  position: Position,
  head: BlockHeader,
  finalized: number,
  signal: AbortSignal,
): Promise<SyncStep> {
  const { block } = position;
  // A head behind ours is a node that lags or restarts, until a hash says otherwise.
  if (head.number <= block.number) {
    if (await isOurs(parts.store, head)) return { kind: "level" };
    // The head may itself be orphaned by now: then the chain still has our block, and another head is on its way.
    return (await rollBackToCommonAncestor(parts, position, head.number, signal)) ?? { kind: "level" };
  }
  const count = Math.min(BLOCKS_PER_STEP_MAX, head.number - block.number);
  const numbers = Array.from({ length: count }, (_, index) => block.number + 1 + index);
  const headers = await parts.chain.readHeaders(numbers, signal);
  if (headers[0]?.parentHash !== block.hash) {
    const step = await rollBackToCommonAncestor(parts, position, block.number, signal);
    if (step) return step;
    throw new Fault("NODE_UNAVAILABLE", `The node answered from two branches about block ${block.number}.`);
  }
  return { kind: "written", written: await write(parts, headers, finalized, signal) };
}

async function write(
  { chain, protocol, store }: IndexingContext,
  headers: readonly BlockHeader[],
  finalized: number,
  signal: AbortSignal,
): Promise<WrittenBatch> {
  const perBlock = await Promise.all(headers.map((header) => chain.readBlockLogs(header, signal)));
  const logs = await protocol.addDetails(perBlock.flat(), signal);
  const blocks = headers.map(({ number, hash, timestamp }, index) => ({
    number,
    hash,
    timestamp,
    logCount: perBlock[index]?.length ?? 0,
  }));
  const tip = blocks.at(-1);
  if (!tip) throw new Error("a group of no blocks is to be written");
  const started = performance.now();
  const folded = await store.fold({ tip, blocks, logs, finalized }, protocol.fold, null);
  await folded.write();
  return { tip, logs: logs.length, blocks: headers.length, ms: performance.now() - started };
}

async function isOurs(store: StorePort, head: BlockHeader): Promise<boolean> {
  const [ours] = await store.readBlocksDescending(head.number, 1);
  // Blocks that are final and empty are forgotten; a node that far back only lags.
  return ours === undefined || ours.number !== head.number || ours.hash === head.hash;
}

/**
 * Walks back from a block to the last one that the chain still has, and undoes everything after it; null when the
 * chain has the block it started from.
 */
export async function rollBackToCommonAncestor(
  { chain, store }: IndexingContext,
  position: Position,
  from: number,
  signal: AbortSignal,
): Promise<SyncStep | null> {
  for (let top = from; ; ) {
    const ours = await store.readBlocksDescending(top, BLOCKS_PER_STEP_MAX);
    const candidates = ours.filter(({ number }) => number >= position.finalized);
    const theirs = await chain.readHeaders(
      candidates.map(({ number }) => number),
      signal,
    );
    const shared = candidates.find(({ hash }, index) => theirs[index]?.hash === hash);
    if (shared && shared.number === from) return null;
    if (shared) {
      await store.rollback(shared);
      return { kind: "rolled back", to: shared, depth: position.block.number - shared.number };
    }
    const lowest = candidates.at(-1);
    if (!lowest || candidates.length < ours.length || ours.length < BLOCKS_PER_STEP_MAX)
      throw tooDeep(position);
    top = lowest.number - 1;
  }
}

function tooDeep(position: Position): Fault {
  return new Fault(
    "REORG_TOO_DEEP",
    `The chain differs from the index at block ${position.finalized}, which was final; nothing was deleted. Check that ` +
      "RPC_URL is a healthy node of the right chain; if the chain really was rewritten, index it again into another DATABASE_SCHEMA.",
  );
}
