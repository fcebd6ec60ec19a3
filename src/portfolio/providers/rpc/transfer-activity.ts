// The transfers of a wallet by logs, those of final blocks remembered for its next snapshot; and the activity they show.

import { Deadline } from "../../../lib/deadline.ts";
import type { Hex } from "../../../lib/hex.ts";
import { LruMap } from "../../../lib/lru-map.ts";
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

type BlockRange = { readonly fromBlock: number; readonly toBlock: number };
type ReadRange = (range: BlockRange, signal: AbortSignal) => Promise<readonly TransferLog[]>;
type Side = { readonly wallet: Hex; readonly side: "from" | "to" };

/** All transfers of a side in these blocks, ascending. */
type Remembered = BlockRange & { readonly logs: readonly TransferLog[]; readonly sinceMs: number };

/** Every chain of ours has made a block final by then. */
const FINAL_AFTER_MS = 3_600_000;
/** Another search then finds what a node left out. */
const REMEMBERED_MS_MAX = 600_000;
/** For each chain: two sides of a hundred wallets, of a third of a kilobyte a transfer. */
const SIDES_MAX = 200;
/** Wallets with more move so often that most of their transfers are new. */
const LOGS_MAX = 250;

const memories = new WeakMap<ChainConfig, LruMap<string, Remembered>>();

/** Reads ranges like `readRange`, without those blocks whose transfers are known. Not as of a requested block. */
export function readWithMemory(
  at: PinnedChain,
  { wallet, side }: Side,
  readRange: ReadRange,
  nowMs: () => number = Date.now,
): ReadRange {
  if (at.asOf) return readRange;
  const memory = memories.get(at.chain) ?? new LruMap<string, Remembered>(SIDES_MAX);
  memories.set(at.chain, memory);
  const key = `${side} ${wallet}`;
  const lastFinal = at.block.number - Math.ceil(FINAL_AFTER_MS / at.chain.blockTimeMs);
  const find = () => {
    const known = memory.get(key);
    // A node that lags, or a chain that starts again, may be behind what is remembered.
    const isUsable = known && nowMs() - known.sinceMs < REMEMBERED_MS_MAX && known.toBlock <= lastFinal;
    return isUsable ? known : null;
  };
  return async (range, signal) => {
    const known = find();
    const parts = known === null ? [range] : subtractRange(range, known);
    const read = await readParts(parts, readRange, signal);
    const logs = [...read.flat(), ...(known === null ? [] : selectLogs(known.logs, range))].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    );
    const final = { fromBlock: range.fromBlock, toBlock: Math.min(range.toBlock, lastFinal) };
    if (final.fromBlock > final.toBlock) return logs;
    // The remembered part may have become too old while the rest was read, and must not seem new then.
    const sinceMs = known?.sinceMs ?? nowMs();
    const joined = joinRanges(find(), { ...final, logs: selectLogs(logs, final), sinceMs });
    if (joined.logs.length <= LOGS_MAX) memory.set(key, joined);
    return logs;
  };
}

/** When one part fails, the other is not needed: the search goes on with a smaller range, or ends. */
async function readParts(
  parts: readonly BlockRange[],
  readRange: ReadRange,
  signal: AbortSignal,
): Promise<readonly (readonly TransferLog[])[]> {
  const work = new Deadline(null, signal);
  try {
    const read = await Promise.all(parts.map((part) => readRange(part, work.signal)));
    work.end();
    return read;
  } catch (error) {
    work.end(error);
    throw error;
  }
}

/** The parts of a range outside of another one. */
function subtractRange(range: BlockRange, known: BlockRange): readonly BlockRange[] {
  const older = { fromBlock: range.fromBlock, toBlock: Math.min(range.toBlock, known.fromBlock - 1) };
  const newer = { fromBlock: Math.max(range.fromBlock, known.toBlock + 1), toBlock: range.toBlock };
  return [older, newer].filter(({ fromBlock, toBlock }) => fromBlock <= toBlock);
}

function selectLogs(
  logs: readonly TransferLog[],
  { fromBlock, toBlock }: BlockRange,
): readonly TransferLog[] {
  return logs.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock);
}

/** Both if nothing lies between them, else the newer one. All of it is as old as what was read first. */
function joinRanges(known: Remembered | null, read: Remembered): Remembered {
  if (known === null) return read;
  const isApart = read.fromBlock > known.toBlock + 1 || read.toBlock < known.fromBlock - 1;
  if (isApart) return read.toBlock > known.toBlock ? read : known;
  const older = known.logs.filter(({ blockNumber }) => blockNumber < read.fromBlock);
  const newer = known.logs.filter(({ blockNumber }) => blockNumber > read.toBlock);
  return {
    fromBlock: Math.min(known.fromBlock, read.fromBlock),
    toBlock: Math.max(known.toBlock, read.toBlock),
    logs: [...older, ...read.logs, ...newer],
    sinceMs: known.sinceMs,
  };
}
