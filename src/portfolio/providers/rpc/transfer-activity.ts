// The activity that the transfers of a wallet show.

import type { Hex } from "../../../lib/hex.ts";
import { ACTIVITY_MAX } from "../../../schema/portfolio/snapshot.ts";
import { BUDGET_MS, runWithinBudget } from "../../time-budgets.ts";
import {
  type ChainConfig,
  isListed,
  type PinnedChain,
  type TransferLog,
  type WalletActivity,
} from "../../types.ts";
import {
  findLookalikes,
  getCounterparty,
  keepNewest,
  type ProviderActivity,
  readSenders,
} from "../activity.ts";

/** Newest first. */
export function compareNewestFirst(a: TransferLog, b: TransferLog): number {
  return b.blockNumber - a.blockNumber || b.logIndex - a.logIndex;
}

/** Newest first, with the sender of each transaction and the time of its block. */
export async function readTransferActivity(
  at: PinnedChain,
  { wallet, logs }: { readonly wallet: Hex; readonly logs: readonly TransferLog[] },
  signal: AbortSignal,
): Promise<ProviderActivity> {
  const real = logs.filter((log) => isRealTransfer(at.chain, log));
  const candidates = listCandidates(wallet, listTransactions(wallet, real));
  const hashes = candidates.map(({ transactionHash }) => transactionHash);
  const [sent, timed] = await Promise.all([
    readSenders(at, hashes, signal),
    readTimestamps(at, candidates, signal),
  ]);
  const lookalikes = findLookalikes(wallet, real);
  const activity = candidates.map((log): WalletActivity => {
    const { transactionHash, from, to, blockNumber, blockTimestamp, contract, amount } = log;
    const counterparty = getCounterparty(wallet, log);
    return {
      hash: transactionHash,
      sender: sent.senders.get(transactionHash) ?? null,
      from,
      to,
      blockNumber,
      transfer: amount === null ? null : { contract, rawAmount: amount },
      lookalike: counterparty !== null && lookalikes.has(counterparty),
      timestamp: blockTimestamp ?? timed.timestamps.get(blockNumber) ?? null,
    };
  });
  return { activity: keepNewest(wallet, activity), warnings: [...sent.warnings, ...timed.warnings] };
}

// Only the sender shows that an arrival is the wallet's own doing, such as a swap of the native coin: one batch.
const ARRIVALS_MAX = 75;

/** Newest first: enough of what left and of what arrived, so that neither can crowd out the other. */
function listCandidates(wallet: Hex, newestFirst: readonly TransferLog[]): readonly TransferLog[] {
  const isOutgoing = ({ from }: TransferLog) => from === wallet;
  const outgoing = newestFirst.filter(isOutgoing).slice(0, ACTIVITY_MAX);
  const arrivals = newestFirst.filter((log) => !isOutgoing(log)).slice(0, ARRIVALS_MAX);
  return [...outgoing, ...arrivals].sort(compareNewestFirst);
}

/**
 * Anyone may emit a transfer of any account from a contract of his own, and move nothing of another's token
 * (transferFrom of 0). A listed token that moves an amount needs the owner's signature or allowance, or is a gift. So does
 * the native coin, whose transfers the chain itself logs.
 */
export function isRealTransfer(chain: ChainConfig, log: TransferLog): boolean {
  return log.amount !== null && log.amount !== 0n && isListed(chain, log);
}

/**
 * One log per transaction, newest first: its first transfer from the wallet, or else to it. A relayer of a payment
 * could send the wallet something in the same transaction, and its own payment must not hide behind that.
 */
function listTransactions(wallet: Hex, logs: readonly TransferLog[]): readonly TransferLog[] {
  const shown = new Map<string, TransferLog>();
  for (const log of logs) {
    const known = shown.get(log.transactionHash);
    const [isOutgoing, wasOutgoing] = [log.from === wallet, known?.from === wallet];
    const isEarlier = known !== undefined && compareNewestFirst(log, known) > 0;
    if (!known || (isOutgoing && !wasOutgoing) || (isOutgoing === wasOutgoing && isEarlier)) {
      shown.set(log.transactionHash, log);
    }
  }
  return [...shown.values()].sort(compareNewestFirst);
}

async function readTimestamps(
  at: PinnedChain,
  logs: readonly TransferLog[],
  signal: AbortSignal,
): Promise<{ readonly timestamps: ReadonlyMap<number, number>; readonly warnings: readonly string[] }> {
  const untimed = logs.filter(({ blockTimestamp }) => blockTimestamp === null);
  if (untimed.length === 0) return { timestamps: new Map(), warnings: [] };
  const blocks = [...new Set(untimed.map(({ blockNumber }) => blockNumber))];
  const outcome = await runWithinBudget((stop) => at.timestamps(blocks, stop), BUDGET_MS.activity, signal);
  if ("value" in outcome) return { timestamps: outcome.value, warnings: [] };
  const warning = `${at.chain.name}: the times of some recent activity could not be read.`;
  return { timestamps: new Map(), warnings: [warning] };
}
