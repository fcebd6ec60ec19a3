// Recent activity from transfer logs: one entry per transaction, newest first, with the time of its block.
import { ACTIVITY_MAX, type PinnedChain, type TransferLog, type WalletActivity } from "../../types.ts";

type TransferActivity = {
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
};

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
