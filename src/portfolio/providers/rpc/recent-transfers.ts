// A wallet's newest token transfers, from as many blocks as the node lets us search, and the activity they show.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ACTIVITY_MAX, type PinnedChain, type TransferLog, type WalletActivity } from "../../types.ts";

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

type TransferActivity = {
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
};

/** One entry per transaction, newest first, with the time of its block. */
export async function readTransferActivity(
  at: PinnedChain,
  logs: readonly TransferLog[],
  signal: AbortSignal,
): Promise<TransferActivity> {
  const newest = newestTransactions(logs);
  const untimed = newest.filter(({ blockTimestamp }) => blockTimestamp === null);
  const warnings: string[] = [];
  let timestamps: ReadonlyMap<number, number> = new Map();
  if (untimed.length > 0) {
    try {
      const blocks = new Set(untimed.map(({ blockNumber }) => blockNumber));
      timestamps = await at.timestamps([...blocks], signal);
    } catch (error) {
      if (signal.aborted) throw error;
      warnings.push(`${at.chain.name}: the times of some recent activity could not be read.`);
    }
  }
  const activity = newest.map(({ transactionHash, from, to, blockNumber, blockTimestamp }) => ({
    hash: transactionHash,
    from,
    to,
    blockNumber,
    timestamp: blockTimestamp ?? timestamps.get(blockNumber) ?? null,
  }));
  return { activity, warnings };
}

/** One log per transaction: its first transfer that involves the wallet. */
function newestTransactions(logs: readonly TransferLog[]): readonly TransferLog[] {
  const first = new Map<string, TransferLog>();
  for (const log of logs) {
    const known = first.get(log.transactionHash);
    if (!known || compareNewestFirst(log, known) > 0) first.set(log.transactionHash, log);
  }
  return [...first.values()].sort(compareNewestFirst).slice(0, ACTIVITY_MAX);
}

export function compareNewestFirst(a: TransferLog, b: TransferLog): number {
  return b.blockNumber - a.blockNumber || b.logIndex - a.logIndex;
}
