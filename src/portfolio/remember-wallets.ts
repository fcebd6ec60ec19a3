// Chains whose logs of wallets are remembered in the database: for the next read, a restart, or another process.
import { deflateSync, inflateSync } from "node:zlib";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import type { WalletLogsTable, WalletOnChain } from "../store/postgres/wallet-logs.ts";
import type { LogKind, PinnedChain, PortfolioChain, RememberedLogs, WalletMemory } from "./types.ts";

// A day, as the table has it: a search of everything then finds what a node left out.
const REMEMBERED_MS_MAX = 24 * 3_600_000;
// Reads within minutes write nothing, and read a few blocks twice.
const LAG_MS_MAX = 600_000;
// Some hundred logs, deflated. A wallet with more is not worth it.
const STORED_BYTES_MAX = 128 * 1024;
// The most that this can inflate to: bounds a damaged row.
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

type RememberedWallets = {
  remember(chain: PortfolioChain): PortfolioChain;
  /** Resolves when all that was to be stored is stored. */
  idle(): Promise<void>;
};

export function openRememberedWallets(table: WalletLogsTable, log: Log): RememberedWallets {
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
  return {
    remember: (access) => ({
      ...access,
      async pin(signal, block, wallet) {
        if (block !== undefined || wallet === undefined) return access.pin(signal, block, wallet);
        const { chainId } = access.chain;
        // A memory that cannot be read is empty: it costs requests, and no snapshot.
        const loading = loadLogs(table, { wallet, chainId }).catch((error: unknown) => {
          warn(error);
          return [];
        });
        const at = await access.pin(signal, undefined, wallet);
        const memory = new StoredMemory({ table, at, wallet, write }, await loading);
        return { ...at, memory };
      },
    }),
    async idle() {
      while (writing.size > 0) await Promise.all(writing);
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
    const reading = at.blockHash(block, signal).catch(() => null);
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
    if (logs === null || logs.length > STORED_BYTES_MAX) return;
    const row = { kind, fromBlock, toBlock, blockHash, logs, sinceMs };
    this.#written = write(this.#written, () => table.put({ wallet, chainId: at.chain.chainId }, row));
  }
}

type LoadedLogs = readonly (readonly [LogKind, RememberedLogs])[];

async function loadLogs(table: WalletLogsTable, owner: WalletOnChain): Promise<LoadedLogs> {
  const rows = await table.load(owner);
  return rows.map(({ kind, blockHash, logs, ...range }) => [
    kind as LogKind,
    { ...range, hash: blockHash, logs: decodeLogs(logs) },
  ]);
}

// No other text of a log has only digits before an n.
const BIGINT = /^\d+n$/;

function encodeLogs(logs: readonly unknown[]): Uint8Array {
  return deflateSync(JSON.stringify(logs, (_, value) => (typeof value === "bigint" ? `${value}n` : value)));
}

function decodeLogs(bytes: Uint8Array): RememberedLogs["logs"] {
  const text = inflateSync(bytes, { maxOutputLength: TEXT_BYTES_MAX }).toString("utf8");
  return JSON.parse(text, (_, value) =>
    typeof value === "string" && BIGINT.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}
