// Writes what was bought into a file, with its signature and receipt, so that anyone can check it later.
import { randomUUID } from "node:crypto";
import { access, chmod, constants, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PaidExchange } from "@sextant/client/payments/exchange";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { formatMoment } from "../lib/moment.ts";

const KEYS_PATH = "/.well-known/http-message-signatures-directory";
const KEYS_MS_MAX = 5_000;
// A hundred keys, as many as a service lists.
const KEYS_LENGTH_MAX = 65_536;

/** Before anything is paid: throws if the file cannot be written. A file that is there stays as it is. */
export async function assertWritable(file: string): Promise<void> {
  await orFault(async () => {
    const target = await findTarget(file);
    if (target.isFile) await writeAndMove(target, "", (written) => rm(written));
  });
}

export async function saveExchange(file: string, exchange: PaidExchange): Promise<void> {
  const saved = {
    format: "sextant-answer",
    version: 1,
    savedAt: formatMoment(Math.floor(systemClock.nowMs() / 1_000)),
    ...exchange,
    keys: await readKeys(exchange.request.url),
  };
  const text = `${JSON.stringify(saved, null, 2)}\n`;
  await orFault(async () => {
    const target = await findTarget(file);
    const { path } = target;
    if (target.isFile) await writeAndMove(target, text, (written) => rename(written, path));
    else await writeFile(path, text);
  });
}

const PERMISSIONS = 0o777;

type Target = {
  readonly path: string;
  /** False for a device or a pipe, which nothing can replace. */
  readonly isFile: boolean;
  /** The permissions of a file that is there. */
  readonly mode: number | null;
};

/** The file that a link leads to: the link stays. */
async function findTarget(file: string): Promise<Target> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return { path: file, isFile: true, mode: null };
  if (found.isDirectory()) throw new TypeError("a folder");
  await access(file, constants.W_OK);
  if (!found.isFile()) return { path: file, isFile: false, mode: null };
  return { path: await realpath(file), isFile: true, mode: found.mode & PERMISSIONS };
}

/** Writes a file of its own in the same folder, so that no reader gets half of the text, and leaves nothing if that fails. */
async function writeAndMove(
  { path, mode }: Target,
  text: string,
  use: (written: string) => Promise<void>,
): Promise<void> {
  const written = join(dirname(path), `.sextant-${randomUUID()}`);
  try {
    await writeFile(written, text, { flag: "wx", ...(mode === null ? {} : { mode }) });
    // The process's mask may have taken some of them away.
    if (mode !== null) await chmod(written, mode);
    await use(written);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
}

async function orFault(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    throw new Fault("USAGE_INVALID", "--save names a file that cannot be written.", { cause });
  }
}

/** The keys that the service lists now; null if it lists none. A reader of the file should compare them with others. */
async function readKeys(url: string): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(KEYS_MS_MAX);
    const response = await fetch(new URL(KEYS_PATH, url), { signal, redirect: "error" });
    if (!response.ok || Number(response.headers.get("content-length")) > KEYS_LENGTH_MAX) return null;
    const text = await response.text();
    return text.length > KEYS_LENGTH_MAX ? null : (JSON.parse(text) as unknown);
  } catch {
    // The response is worth saving without them.
    return null;
  }
}
