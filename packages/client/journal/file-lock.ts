// A lock between processes: a file that is created whole or not at all, and removed only when its owner is gone.
import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SextantError } from "../errors.ts";

type Owner = {
  readonly pid: number;
  /** The start time of the process, if the system shows it: a process id is used again later. */
  readonly started: string | null;
  /** Host and process namespace; process ids mean nothing elsewhere. */
  readonly place: string;
  readonly token: string;
};

export type FileLock = {
  /** Throws when another process has taken the lock over. */
  assertHeld(): void;
  release(): void;
};

const PAUSE_MS_MIN = 1;
const PAUSE_MS_MAX = 12;
// A process of another host or container cannot be observed. No one thinks about a signature for that long.
const FOREIGN_OWNER_MS = 600_000;
// A lock that guards the removal of a lock that guards the removal: more only with a process that dies each time.
const DEPTH_MAX = 3;
const DRAFT = /\.\d+\.\d+$/;
// It exists for less than a millisecond.
const DRAFT_MS = 60_000;

let locks = 0;
/** Both stay the same for the life of this process, and reading them takes longer than the rest of a lock. */
let ownPlace: string | undefined;
let ownStart: string | null | undefined;

/** Waits for its turn, at most `waitMs`. */
export async function acquireFileLock(path: string, waitMs: number, depth = 0): Promise<FileLock> {
  const owner = describeSelf();
  const text = JSON.stringify(owner);
  const end = Date.now() + waitMs;
  for (;;) {
    if (tryCreate(path, text)) return toLock(path, text);
    const found = readIfThere(path);
    if (found === null) continue;
    if (isGone(found, path)) {
      await removeStale(path, found, waitMs, depth);
      continue;
    }
    if (Date.now() > end) {
      const { pid } = parseOwner(found) ?? { pid: "unknown" };
      throw new SextantError(
        "JOURNAL_UNAVAILABLE",
        `The journal is locked by process ${pid}; see ${path}. Nothing was signed.`,
      );
    }
    await sleep(PAUSE_MS_MIN + Math.random() * (PAUSE_MS_MAX - PAUSE_MS_MIN));
  }
}

function toLock(path: string, text: string): FileLock {
  return {
    assertHeld() {
      if (readIfThere(path) === text) return;
      throw new SextantError("JOURNAL_UNAVAILABLE", `Another process took the lock ${path} over.`);
    },
    release() {
      if (readIfThere(path) === text) unlinkIfThere(path);
    },
  };
}

/** A link appears with its whole content, so that no other process ever reads half an owner. */
function tryCreate(path: string, text: string): boolean {
  locks += 1;
  const draft = `${path}.${process.pid}.${locks}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    unlinkIfThere(draft);
  }
}

/** Deletes what processes left that were killed between the two steps of taking a lock. */
export function removeDrafts(path: string): void {
  const start = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(start) || !DRAFT.test(name)) continue;
    const draft = join(dirname(path), name);
    if (ageMs(draft) > DRAFT_MS) unlinkIfThere(draft);
  }
}

/** Under a lock of its own: of two processes that see the same dead owner, the slower must not remove the next lock. */
async function removeStale(path: string, text: string, waitMs: number, depth: number): Promise<void> {
  if (depth >= DEPTH_MAX) {
    throw new SextantError("JOURNAL_UNAVAILABLE", `The lock ${path} cannot be removed; delete it.`);
  }
  const lock = await acquireFileLock(`${path}.stale`, waitMs, depth + 1);
  try {
    if (readIfThere(path) === text) unlinkIfThere(path);
  } finally {
    lock.release();
  }
}

function isGone(text: string, path: string): boolean {
  const owner = parseOwner(text);
  // Not written by us: left to people.
  if (owner === null) return false;
  if (owner.place !== describePlace()) return ageMs(path) > FOREIGN_OWNER_MS;
  if (!isRunning(owner.pid)) return true;
  const found = readProcess(owner.pid);
  if (found === null) return false;
  return found.hasEnded || (owner.started !== null && found.started !== owner.started);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, and belongs to another user.
    return hasCode(error, "EPERM");
  }
}

function describeSelf(): Owner {
  ownStart ??= readProcess(process.pid)?.started ?? null;
  const token = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  return { pid: process.pid, started: ownStart, place: describePlace(), token };
}

function describePlace(): string {
  ownPlace ??= readPlace();
  return ownPlace;
}

function readPlace(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** The start time on Linux; null on other systems, on which the process id alone decides. */
function readProcess(pid: number): { readonly started: string; readonly hasEnded: boolean } | null {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may have spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A process that has ended keeps its id until its parent has looked, which some never do.
    return { started: `${boot} ${fields[19]}`, hasEnded: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return null;
  }
}

function parseOwner(text: string): Owner | null {
  try {
    const owner = JSON.parse(text) as Owner;
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 && typeof owner.place === "string" ? owner : null;
  } catch {
    return null;
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
