// Logs of a wallet in final blocks, remembered for its next read: in the database, or for ten minutes in the process.
import { Deadline } from "../lib/deadline.ts";
import type { Hex } from "../lib/hex.ts";
import { LruMap } from "../lib/lru-map.ts";
import { findRecentLogs, type LogHistory, type SearchBudget } from "./recent-logs.ts";
import type {
  ChainConfig,
  LogKind,
  LogRange,
  PinnedChain,
  PlacedLog,
  RememberedLogs,
  WalletMemory,
} from "./types.ts";

/** Every chain of ours has made a block final by then. */
export const FINAL_AFTER_MS = 3_600_000;
export const PROCESS_MS_MAX = 600_000;
/** For each chain: kinds of a hundred wallets or so, of a third of a kilobyte a log. */
const ENTRIES_MAX = 200;
/** Wallets with more move so often that most of their logs are new. */
const LOGS_MAX = 250;

const processMemories = new WeakMap<ChainConfig, LruMap<string, RememberedLogs>>();

function openProcessMemory(chain: ChainConfig, wallet: Hex): WalletMemory {
  const entries = processMemories.get(chain) ?? new LruMap<string, RememberedLogs>(ENTRIES_MAX);
  processMemories.set(chain, entries);
  return {
    msMax: PROCESS_MS_MAX,
    lagMax: 0,
    find: (kind) => entries.get(`${kind} ${wallet}`),
    keep: (kind, logs) => entries.set(`${kind} ${wallet}`, logs),
    hashOf: async () => null,
    forget: () => undefined,
    save: () => undefined,
  };
}

type RememberedSearch<Log> = {
  readonly wallet: Hex;
  readonly kind: LogKind;
  readonly readRange: (range: LogRange, signal: AbortSignal) => Promise<readonly Log[]>;
};

/** Like `findRecentLogs`, and reads from nodes only what is not remembered. Not as of a requested block. */
export async function findRememberedLogs<Log extends PlacedLog>(
  at: PinnedChain,
  search: RememberedSearch<Log>,
  signal: AbortSignal,
  budget?: SearchBudget,
): Promise<LogHistory<Log> | null> {
  const found = await findRecentLogs(at, readWithMemory(at, search), signal, budget);
  at.memory?.save(search.kind);
  return found;
}

/** Reads ranges like `readRange`, without those blocks whose logs are known. */
export function readWithMemory<Log extends PlacedLog>(
  at: PinnedChain,
  { wallet, kind, readRange }: RememberedSearch<Log>,
  nowMs: () => number = Date.now,
): RememberedSearch<Log>["readRange"] {
  if (at.asOf) return readRange;
  const memory = at.memory ?? openProcessMemory(at.chain, wallet);
  const lastFinal = at.block.number - Math.ceil(FINAL_AFTER_MS / at.chain.blockTimeMs);
  const find = () => {
    // Only this function keeps logs of the kind.
    const known = memory.find(kind) as RememberedLogs<Log> | undefined;
    // A node that lags, or a chain that starts again, may be behind what is remembered.
    const isUsable = known && nowMs() - known.sinceMs < memory.msMax && known.toBlock <= lastFinal;
    return isUsable ? known : null;
  };
  const read = async (range: LogRange, signal: AbortSignal): Promise<readonly Log[]> => {
    const known = find();
    // A block hash for each second would cost more than the blocks that are read twice.
    const last = known !== null && lastFinal - known.toBlock <= memory.lagMax ? known.toBlock : lastFinal;
    const parts = known === null ? [range] : subtractRange(range, known);
    const [found, lastHash, knownHash] = await Promise.all([
      readParts(parts, readRange, signal),
      known?.toBlock === last ? known.hash : memory.hashOf(last, signal),
      known?.hash ? memory.hashOf(known.toBlock, signal) : null,
    ]);
    if (known !== null && known.hash !== knownHash) {
      memory.forget(knownHash !== null);
      return read(range, signal);
    }
    const logs = [...found.flat(), ...(known === null ? [] : selectLogs(known.logs, range))].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    );
    const final = { fromBlock: range.fromBlock, toBlock: Math.min(range.toBlock, last) };
    if (final.fromBlock > final.toBlock) return logs;
    const hash = final.toBlock === last ? lastHash : null;
    // The remembered part may have become too old while the rest was read, and must not seem new then.
    const sinceMs = known?.sinceMs ?? nowMs();
    const joined = joinRanges(find(), { ...final, logs: selectLogs(logs, final), sinceMs, hash });
    if (joined.logs.length <= LOGS_MAX) memory.keep(kind, joined);
    return logs;
  };
  return read;
}

/** When one part fails, the other is not needed: the search goes on with a smaller range, or ends. */
async function readParts<Log>(
  parts: readonly LogRange[],
  readRange: RememberedSearch<Log>["readRange"],
  signal: AbortSignal,
): Promise<readonly (readonly Log[])[]> {
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
function subtractRange(range: LogRange, known: LogRange): readonly LogRange[] {
  const older = { fromBlock: range.fromBlock, toBlock: Math.min(range.toBlock, known.fromBlock - 1) };
  const newer = { fromBlock: Math.max(range.fromBlock, known.toBlock + 1), toBlock: range.toBlock };
  return [older, newer].filter(({ fromBlock, toBlock }) => fromBlock <= toBlock);
}

function selectLogs<Log extends PlacedLog>(
  logs: readonly Log[],
  { fromBlock, toBlock }: LogRange,
): readonly Log[] {
  return logs.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock);
}

/** Both if nothing lies between them, else the newer one. All of it is as old as what was read first. */
function joinRanges<Log extends PlacedLog>(
  known: RememberedLogs<Log> | null,
  read: RememberedLogs<Log>,
): RememberedLogs<Log> {
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
    hash: read.toBlock > known.toBlock ? read.hash : known.hash,
  };
}
