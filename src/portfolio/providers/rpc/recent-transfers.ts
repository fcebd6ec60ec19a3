// A wallet's newest token transfers on one side, from as many blocks as the node is willing to search.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ACTIVITY_MAX, type PinnedChain, type TransferLog } from "../../types.ts";

export type TransferHistory = {
  readonly logs: readonly TransferLog[];
  /** The oldest block that was looked at. */
  readonly fromBlock: number;
};

// A day, but no more than most nodes search at once and not so little that a quiet wallet shows nothing.
const DAY_MS = 86_400_000;
const BLOCKS_FIRST_MIN = 1_000;
const BLOCKS_FIRST_MAX = 10_000;

// 10,000 blocks become 2: the narrowest public node takes 50.
const SHRINK_BY = 8;
const SHRINKS_MAX = 4;

// Up to 21 times the first window; a wallet that did nothing in all that time simply shows nothing.
const WIDEN_BY = 4;
const WIDENINGS_MAX = 2;

// Activity is worth a short wait; balances must not be held up by it.
const TIME_MS_MAX = 10_000;

/** Rejects when not even the smallest window could be read. */
export async function readRecentTransfers(
  at: PinnedChain,
  wallet: Hex,
  side: "from" | "to",
  signal: AbortSignal,
  timeMsMax: number = TIME_MS_MAX,
): Promise<TransferHistory> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeMsMax)]);
  let logs: readonly TransferLog[] = [];
  let reached: number | null = null;
  let blocks = firstWindow(at.chain.blockTimeMs);
  let shrinks = 0;
  for (let widenings = 0; widenings <= WIDENINGS_MAX; ) {
    const toBlock = (reached ?? at.block.number + 1) - 1;
    const fromBlock = Math.max(0, toBlock - blocks + 1);
    try {
      logs = [...(await at.transfers({ wallet, side, fromBlock, toBlock }, inTime)), ...logs];
      reached = fromBlock;
    } catch (error) {
      if (signal.aborted) throw error;
      // Older blocks are a bonus: many nodes do not search that many, or no longer have them.
      if (reached !== null) break;
      if (!asksForLess(error) || shrinks === SHRINKS_MAX) throw error;
      shrinks += 1;
      blocks = Math.max(1, Math.floor(blocks / SHRINK_BY));
      continue;
    }
    if (reached === 0 || shrinks > 0 || transactionsIn(logs) >= ACTIVITY_MAX) break;
    widenings += 1;
    blocks *= WIDEN_BY;
  }
  return { logs, fromBlock: reached ?? at.block.number };
}

function firstWindow(blockTimeMs: number): number {
  return Math.min(BLOCKS_FIRST_MAX, Math.max(BLOCKS_FIRST_MIN, Math.floor(DAY_MS / blockTimeMs)));
}

function asksForLess(error: unknown): boolean {
  return error instanceof Fault && error.code === "LOGS_TOO_LARGE";
}

function transactionsIn(logs: readonly TransferLog[]): number {
  return new Set(logs.map(({ transactionHash }) => transactionHash)).size;
}
