// A journal in a file that processes share: appended line by line, on disk before a signature leaves.
import {
  closeSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { SextantError } from "../errors.ts";
import { acquireFileLock, type FileLock, removeDrafts } from "./file-lock.ts";
import { createQueue, type Journal } from "./journal.ts";
import { PaymentBook } from "./payment-book.ts";
import { formatRecord, type JournalRecord, parseRecord } from "./records.ts";

export interface FileJournal extends Journal {
  close(): Promise<void>;
}

type FileJournalOptions = {
  /** How long to wait for other processes; signing with a device takes a person some time. */
  readonly lockWaitMs?: number;
};

const LOCK_WAIT_MS = 60_000;
const NEWLINE = 10;
const syncFile = promisify((descriptor: number, done: (error: Error | null) => void) =>
  fsync(descriptor, done),
);

/**
 * Opens or creates the journal. Keep one file per paying account, on a local disk, readable by its owner only: it holds
 * signatures.
 *
 * @example
 * ```ts
 * import { openFileJournal } from "@sextant-index/client/file-journal";
 * const journal = openFileJournal("./payments.jsonl");
 * ```
 */
export function openFileJournal(path: string, options: FileJournalOptions = {}): FileJournal {
  const file = openOrCreate(resolve(path));
  const enqueue = createQueue();
  const waitMs = options.lockWaitMs ?? LOCK_WAIT_MS;
  return {
    read: async () => file.readOn(),
    exclusive: (act) =>
      enqueue(async () => {
        const lock = await acquireFileLock(lockOf(file.realPath), waitMs).catch(rethrow);
        try {
          file.assertInPlace();
          file.removeTornLine();
          await file.syncForeign();
          return await act(file.readOn(), (record, { durable }) => file.append(record, durable, lock));
        } finally {
          lock.release();
        }
      }),
    close: () => enqueue(async () => file.close()),
  };
}

class JournalFile {
  readonly path: string;
  /** The path of the file itself: all paths that lead to it through symbolic links share its lock. */
  readonly realPath: string;
  readonly #descriptor: number;
  readonly #book = new PaymentBook();
  /** Bytes that are in the book. */
  #offset = 0;
  /** Bytes up to which every signature is known to be on disk. */
  #syncedTo = 0;

  constructor(path: string, realPath: string, descriptor: number) {
    this.path = path;
    this.realPath = realPath;
    this.#descriptor = descriptor;
  }

  /** Adds what other processes have written. A last line without its end is not read: it may still be written. */
  readOn(): PaymentBook {
    const bytes = this.#readNew();
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const lines = bytes.toString("utf8", 0, end).split("\n");
    // All are read before the first counts, so that none counts twice after a damaged one.
    for (const record of lines.filter(Boolean).map(parseRecord)) this.#book.apply(record);
    this.#offset += end;
    return this.#book;
  }

  /** For the holder of the lock, when no other process writes: a torn line is of a process that died before it sent. */
  removeTornLine(): void {
    const bytes = this.#readNew();
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end < bytes.length) ftruncateSync(this.#descriptor, this.#offset + end);
  }

  /** For the holder of the lock: what is written to a file that was moved or deleted, no other process would ever read. */
  assertInPlace(): void {
    const opened = fstatSync(this.#descriptor, { bigint: true });
    for (const path of new Set([this.path, this.realPath])) {
      const named = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (named !== undefined && opened.ino === named.ino && opened.dev === named.dev) continue;
      throw new SextantError("JOURNAL_INVALID", `${path} was moved or deleted while it was in use.`);
    }
    if (opened.nlink <= 1n) return;
    throw new SextantError(
      "JOURNAL_INVALID",
      `${this.realPath} has another name (a hard link), under which it would have another lock. Delete that name, or copy the file.`,
    );
  }

  /** For the holder of the lock: a process that died after its write and before its fsync left a line in memory only. */
  async syncForeign(): Promise<void> {
    this.readOn();
    if (this.#offset > this.#syncedTo) await syncFile(this.#descriptor).catch(rethrow);
    this.#syncedTo = this.#offset;
  }

  async append(record: JournalRecord, durable: boolean, lock: FileLock): Promise<void> {
    lock.assertHeld();
    const line = Buffer.from(formatRecord(record));
    try {
      const written = writeSync(this.#descriptor, line);
      if (written !== line.length) throw new Error("the disk is full");
      if (durable) await syncFile(this.#descriptor);
    } catch (cause) {
      rethrow(cause);
    }
    this.readOn();
    // Only an outcome is not durable, and an outcome may be lost.
    this.#syncedTo = this.#offset;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #readNew(): Buffer {
    try {
      const { size } = fstatSync(this.#descriptor);
      if (size < this.#offset) {
        throw new SextantError("JOURNAL_INVALID", "The journal became shorter; it must only be appended to.");
      }
      const bytes = Buffer.alloc(size - this.#offset);
      let read = 0;
      while (read < bytes.length) {
        const count = readSync(this.#descriptor, bytes, read, bytes.length - read, this.#offset + read);
        if (count === 0) break;
        read += count;
      }
      return bytes.subarray(0, read);
    } catch (cause) {
      return rethrow(cause);
    }
  }
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

function openOrCreate(path: string): JournalFile {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(path, "a+", 0o600);
    const realPath = realpathSync.native(path);
    // The name of a new file must survive a crash as well as its lines.
    syncFolder(dirname(realPath));
    removeDrafts(lockOf(realPath));
    return new JournalFile(path, realPath, descriptor);
  } catch (cause) {
    return rethrow(cause);
  }
}

/** Windows cannot open folders, and writes their entries itself. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function rethrow(cause: unknown): never {
  if (cause instanceof SextantError) throw cause;
  throw new SextantError("JOURNAL_UNAVAILABLE", "The journal cannot be read or written; nothing was sent.", {
    cause,
  });
}
