// A wallet's token transfers, newest blocks first as far as the budget reaches.
import type { Hex } from "../../../lib/hex.ts";
import { type LogHistory, type SearchBudget, searchRecentLogs } from "../../recent-logs.ts";
import type { PinnedChain, TransferLog } from "../../types.ts";

export type TransferHistory = LogHistory<TransferLog>;

/** Rejects when not even the newest blocks can be read. */
export function readRecentTransfers(
  at: PinnedChain,
  wallet: Hex,
  side: "from" | "to",
  signal: AbortSignal,
  budget?: SearchBudget,
): Promise<TransferHistory> {
  return searchRecentLogs(
    at,
    (range, stop) => at.transfers({ wallet, side, ...range }, stop),
    signal,
    budget,
  );
}

/** Newest first. */
export function compareNewestFirst(a: TransferLog, b: TransferLog): number {
  return b.blockNumber - a.blockNumber || b.logIndex - a.logIndex;
}
