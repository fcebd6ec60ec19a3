// The activity that transfer logs show: amounts of listed tokens that moved, one entry per transaction.
import type { Hex } from "../../../lib/hex.ts";
import type { ChainConfig, PinnedChain, TransferLog, WalletActivity } from "../../types.ts";
import { findLookalikes, getCounterparty, keepNewest, readSenders } from "../activity.ts";
import { compareNewestFirst } from "./recent-transfers.ts";

type TransferActivity = {
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
};

/** Newest first, with the sender of each transaction and the time of its block. */
export async function readTransferActivity(
  at: PinnedChain,
  { wallet, logs }: { readonly wallet: Hex; readonly logs: readonly TransferLog[] },
  signal: AbortSignal,
): Promise<TransferActivity> {
  const real = logs.filter((log) => isRealTransfer(at.chain, log));
  const lookalikes = findLookalikes(wallet, real);
  const newest = listTransactions(real).map((log) => {
    const counterparty = getCounterparty(wallet, log);
    return { ...log, lookalike: counterparty !== null && lookalikes.has(counterparty) };
  });
  const shown = keepNewest(newest);
  const hashes = shown.map(({ transactionHash }) => transactionHash);
  const [sent, timed] = await Promise.all([
    readSenders(at, hashes, signal),
    readTimestamps(at, shown, signal),
  ]);
  const activity = shown.map(({ transactionHash, from, to, blockNumber, blockTimestamp, lookalike }) => ({
    hash: transactionHash,
    sender: sent.senders.get(transactionHash) ?? null,
    ...{ from, to, blockNumber, lookalike },
    timestamp: blockTimestamp ?? timed.timestamps.get(blockNumber) ?? null,
  }));
  return { activity, warnings: [...sent.warnings, ...timed.warnings] };
}

/**
 * Anyone may emit a transfer of any account from a contract of his own, and move nothing of another's token
 * (transferFrom of 0). A listed token that moves an amount needs the owner's signature or allowance, or is a gift.
 */
function isRealTransfer({ tokens, stablecoins }: ChainConfig, { contract, amount }: TransferLog): boolean {
  return amount !== null && amount > 0n && (tokens.has(contract) || stablecoins.has(contract));
}

/** One log per transaction, newest first: its first transfer that involves the wallet. */
function listTransactions(logs: readonly TransferLog[]): readonly TransferLog[] {
  const first = new Map<string, TransferLog>();
  for (const log of logs) {
    const known = first.get(log.transactionHash);
    if (!known || compareNewestFirst(log, known) > 0) first.set(log.transactionHash, log);
  }
  return [...first.values()].sort(compareNewestFirst);
}

async function readTimestamps(
  at: PinnedChain,
  logs: readonly TransferLog[],
  signal: AbortSignal,
): Promise<{ readonly timestamps: ReadonlyMap<number, number>; readonly warnings: readonly string[] }> {
  const untimed = logs.filter(({ blockTimestamp }) => blockTimestamp === null);
  if (untimed.length === 0) return { timestamps: new Map(), warnings: [] };
  try {
    const blocks = new Set(untimed.map(({ blockNumber }) => blockNumber));
    return { timestamps: await at.timestamps([...blocks], signal), warnings: [] };
  } catch {
    signal.throwIfAborted();
    const warning = `${at.chain.name}: the times of some recent activity could not be read.`;
    return { timestamps: new Map(), warnings: [warning] };
  }
}
