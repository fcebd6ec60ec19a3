// A wallet's newest sent or received token transfers, from as many blocks as the node lets us search.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ACTIVITY_MAX, type PinnedChain, type TransferLog } from "../../types.ts";

export type TransferHistory = {
  readonly logs: readonly TransferLog[];
  /** The oldest searched block. */
  readonly fromBlock: number;
};

// A day, capped by what most nodes search at once, and at least enough for a wallet with little activity.
const DAY_MS = 86_400_000;
const BLOCKS_FIRST_MIN = 1_000;
const BLOCKS_FIRST_MAX = 10_000;

// Shrinks 10,000 blocks to 2; the strictest public node allows 50.
const SHRINK_BY = 8;
const SHRINKS_MAX = 4;

// Up to 21 times the first window; a wallet without activity in that time shows none.
const WIDEN_BY = 4;
const WIDENINGS_MAX = 2;

// Activity is optional and must not delay the balances for long.
const TIME_MS_MAX = 10_000;

/** Rejects when even the smallest window cannot be read. */
export async function readRecentTransfers(
  at: PinnedChain,
  wallet: Hex,
  side: "from" | "to",
  signal: AbortSignal,
  timeMsMax: number = TIME_MS_MAX,
): Promise<TransferHistory> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeMsMax)]);
  let logs: readonly TransferLog[] = [];
  let reached: number | null = null;
  let blocks = initialWindow(at.chain.blockTimeMs);
  let shrinks = 0;
  for (let widenings = 0; widenings <= WIDENINGS_MAX; ) {
    const toBlock = (reached ?? at.block.number + 1) - 1;
    const fromBlock = Math.max(0, toBlock - blocks + 1);
    try {
      logs = [...(await at.transfers({ wallet, side, fromBlock, toBlock }, deadline)), ...logs];
      reached = fromBlock;
    } catch (error) {
      if (signal.aborted) throw error;
      // Older blocks are optional: many nodes limit the range or have pruned them.
      if (reached !== null) break;
      if (!wantsSmallerRange(error) || shrinks === SHRINKS_MAX) throw error;
      shrinks += 1;
      blocks = Math.max(1, Math.floor(blocks / SHRINK_BY));
      continue;
    }
    if (reached === 0 || shrinks > 0 || countTransactions(logs) >= ACTIVITY_MAX) break;
    widenings += 1;
    blocks *= WIDEN_BY;
  }
  return { logs, fromBlock: reached ?? at.block.number };
}

function initialWindow(blockTimeMs: number): number {
  return Math.min(BLOCKS_FIRST_MAX, Math.max(BLOCKS_FIRST_MIN, Math.floor(DAY_MS / blockTimeMs)));
}

function wantsSmallerRange(error: unknown): boolean {
  return error instanceof Fault && error.code === "LOGS_TOO_LARGE";
}

function countTransactions(logs: readonly TransferLog[]): number {
  return new Set(logs.map(({ transactionHash }) => transactionHash)).size;
}
