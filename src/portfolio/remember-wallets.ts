// Chains whose logs of wallets are remembered in the database: for the next read, a restart, or another process.
import { deflateSync, inflateSync } from "node:zlib";
import { untilAborted } from "../lib/deadline.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { REMEMBERED_HOURS_MAX, type WalletLogsTable } from "../store/postgres/wallet-logs.ts";
import type { LogKind, PinnedChain, PortfolioChain, RememberedLogs, WalletMemory } from "./types.ts";

const REMEMBERED_MS_MAX = REMEMBERED_HOURS_MAX * 3_600_000;
// Reads within minutes write nothing, and read a few blocks twice.
const LAG_MS_MAX = 600_000;
// Some hundred logs, deflated. A wallet with more is not worth it.
const STORED_BYTES_MAX = 128 * 1024;
// A hundred times smaller deflated, if anyone fills the logs with zeros; the same bound for a damaged row.
const TEXT_BYTES_MAX = 1024 * 1024;
// Deletes within an hour what is older than a day, also if no wallet is read.
const DELETE_UNUSED_EVERY_MS = 3_600_000;
// A database that responds later saves no time.
const LOAD_MS_MAX = 1_000;

type RememberedWallets = {
  remember(chain: PortfolioChain): PortfolioChain;
  /** Resolves when all that was to be stored is stored. */
  close(): Promise<void>;
};

/** If not `enabled`, chains stay as they are, and what an earlier process remembered is deleted. */
export function openRememberedWallets(
  table: WalletLogsTable,
  { enabled, log }: { readonly enabled: boolean; readonly log: Log },
): RememberedWallets {
  const writing = new Set<Promise<void>>();
  const warn = (err: unknown) =>
    log.warn(
      { component: "portfolio", event: "wallet_logs_unavailable", err },
      "Remembered logs of a wallet could not be read or stored",
    );
  const write = (before: Promise<void>, work: () => Promise<void>): Promise<void> => {
    const written: Promise<void> = before
      .then(work)
      .catch(warn)
      .finally(() => writing.delete(written));
    writing.add(written);
    return written;
  };
  const close = async () => {
    while (writing.size > 0) await Promise.all(writing);
  };
  if (!enabled) {
    void write(Promise.resolve(), table.deleteAll);
    return { remember: (access) => access, close };
  }
  const deleteUnused = () => void write(Promise.resolve(), table.deleteUnused);
  deleteUnused();
  const timer = setInterval(deleteUnused, DELETE_UNUSED_EVERY_MS).unref();
  return {
    remember: (access) => ({
      ...access,
      async pin(signal, block, wallet) {
        if (block !== undefined || wallet === undefined) return access.pin(signal, block, wallet);
        const { chainId } = access.chain;
        const owner = { wallet, chainId };
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(LOAD_MS_MAX)]);
        // A memory that cannot be read is empty: it costs requests, and no snapshot.
        const loading = untilAborted(table.load(owner), inTime).catch((error: unknown) => {
          warn(error);
          return [];
        });
        const at = await access.pin(signal, undefined, wallet);
        const rows = await loading;
        if (rows.some(({ isUnmarked }) => isUnmarked)) {
          void write(Promise.resolve(), () => table.markUsed(owner));
        }
        const memory = new StoredMemory({ table, at, wallet, write }, decodeRows(rows, warn));
        // A node had a wrong head, or the chain has started again: no later row would replace such a one.
        if (rows.some(({ toBlock }) => toBlock > at.block.number)) memory.forget(true);
        return { ...at, memory };
      },
    }),
    close() {
      clearInterval(timer);
      return close();
    },
  };
}

type StoredMemoryOptions = {
  readonly table: WalletLogsTable;
  readonly at: PinnedChain;
  readonly wallet: Hex;
  readonly write: (before: Promise<void>, work: () => Promise<void>) => Promise<void>;
};

class StoredMemory implements WalletMemory {
  readonly msMax = REMEMBERED_MS_MAX;
  readonly lagMax: number;
  readonly #options: StoredMemoryOptions;
  readonly #entries: Map<LogKind, RememberedLogs>;
  /** The entries of the database, by which `save` knows what is new. */
  readonly #loaded: Map<LogKind, RememberedLogs>;
  readonly #hashes = new Map<number, Promise<Hex | null>>();
  #written: Promise<void> = Promise.resolve();

  constructor(options: StoredMemoryOptions, loaded: LoadedLogs) {
    this.#options = options;
    this.lagMax = LAG_MS_MAX / options.at.chain.blockTimeMs;
    this.#loaded = new Map(loaded);
    this.#entries = new Map(loaded);
  }

  find(kind: LogKind): RememberedLogs | undefined {
    return this.#entries.get(kind);
  }

  keep(kind: LogKind, logs: RememberedLogs): void {
    this.#entries.set(kind, logs);
  }

  hashOf(block: number, signal: AbortSignal): Promise<Hex | null> {
    const { at } = this.#options;
    const known = this.#hashes.get(block);
    if (known !== undefined || block < 0 || at.blockHash === undefined) return known ?? Promise.resolve(null);
    const reading = at.blockHash(block, signal).catch(() => {
      // Another kind may ask again, with time that this one did not have.
      this.#hashes.delete(block);
      return null;
    });
    this.#hashes.set(block, reading);
    return reading;
  }

  forget(isFalse: boolean): void {
    const { table, at, wallet, write } = this.#options;
    this.#entries.clear();
    this.#loaded.clear();
    if (!isFalse) return;
    this.#written = write(this.#written, () => table.forget({ wallet, chainId: at.chain.chainId }));
  }

  save(kind: LogKind): void {
    const { table, at, wallet, write } = this.#options;
    const [kept, loaded] = [this.#entries.get(kind), this.#loaded.get(kind)];
    if (kept === undefined || kept.hash === null) return;
    const { hash: blockHash, fromBlock, toBlock, sinceMs } = kept;
    const isNew = loaded === undefined || fromBlock < loaded.fromBlock || toBlock > loaded.toBlock;
    const logs = isNew ? encodeLogs(kept.logs) : null;
    if (logs === null) return;
    const row = { kind, fromBlock, toBlock, blockHash, logs, sinceMs };
    this.#written = write(this.#written, () => table.put({ wallet, chainId: at.chain.chainId }, row));
  }
}

type LoadedLogs = readonly (readonly [LogKind, RememberedLogs])[];

/** Without damaged rows, which are searched again. */
function decodeRows(
  rows: Awaited<ReturnType<WalletLogsTable["load"]>>,
  warn: (error: unknown) => void,
): LoadedLogs {
  return rows.flatMap(({ kind, blockHash, logs, fromBlock, toBlock, sinceMs }) => {
    try {
      const known = { fromBlock, toBlock, sinceMs, hash: blockHash, logs: decodeLogs(logs) };
      return [[kind as LogKind, known]] as const;
    } catch (error) {
      warn(error);
      return [];
    }
  });
}

// No other text of a log has only digits before an n.
const BIGINT = /^\d+n$/;

/** Null if they are too large to be stored. */
function encodeLogs(logs: readonly unknown[]): Uint8Array | null {
  const text = JSON.stringify(logs, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  if (text.length > TEXT_BYTES_MAX) return null;
  const bytes = deflateSync(text);
  return bytes.length > STORED_BYTES_MAX ? null : bytes;
}

function decodeLogs(bytes: Uint8Array): RememberedLogs["logs"] {
  const text = inflateSync(bytes, { maxOutputLength: TEXT_BYTES_MAX }).toString("utf8");
  return JSON.parse(text, (_, value) =>
    typeof value === "string" && BIGINT.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}
