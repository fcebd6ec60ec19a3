// Remembers which transfers of a wallet final blocks have, so that its next snapshot searches only the blocks since.
import { Deadline } from "../../../lib/deadline.ts";
import type { Hex } from "../../../lib/hex.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { ChainConfig, PinnedChain, TransferLog } from "../../types.ts";

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
