// One run of the server program: spawned with a watchdog, ready once it is claimed, stopped in bounded time.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { PostgresBinaries } from "./binaries.ts";
import { ClaimHandle, claimServer } from "./claim.ts";
import { createStartError, databaseInUseError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { SERVER_ENVIRONMENT } from "./server-account.ts";
import type { ServerFolders } from "./server-folders.ts";
import {
  type Durability,
  FAST_SHUTDOWN_MS_MAX,
  IMMEDIATE_SHUTDOWN_MS_MAX,
  RECOVERY_MS_MAX,
  serverArguments,
} from "./server-settings.ts";
import { startWatchdog } from "./watchdog.ts";

export type ServerProcess = {
  readonly pid: number;
  /** Resolves with a description of the exit when the process is gone. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
};

const CLAIM_EVERY_MS = 20;
// The log holds only warnings; a longer one is rotated, and the previous one dropped.
const LOG_BYTES_MAX = 5_000_000;
const LOG_TAIL_BYTES = 8_000;
// Another process was faster, perhaps just now, or children of a killed server still hold its shared memory: retry instead
// of failing.
const TEMPORARY_FAILURE =
  /lock file ".*" (?:already exists|is empty)|pre-existing shared memory block|received fast shutdown request/;

/** Null when the server exited for a temporary reason and starting it again is worthwhile. */
export async function startServerProcess(
  folders: ServerFolders,
  binaries: PostgresBinaries,
  durability: Durability,
  log: Logger,
  whenClaimed: (session: Client) => Promise<void>,
): Promise<ServerProcess | null> {
  const logOffset = rotateLog(folders.logFile);
  const { child, pid, exit } = await spawnServer(folders, binaries, durability);
  const watchdog = startWatchdog(pid, folders, log);
  let hasExited = false;
  const exited = exit.then((description) => {
    hasExited = true;
    watchdog.stop();
    return description;
  });

  const deadlineMs = Date.now() + RECOVERY_MS_MAX;
  while (!hasExited) {
    const claim = await claimServer(folders.socketFolder);
    if (claim.state === "claimed") {
      await whenClaimed(claim.session);
      const { socketFolder } = folders;
      const handle = new ClaimHandle(claim.session, { socketFolder, hasExited: () => hasExited, log });
      return { pid, exited, stop: () => stopServer(child, exited, handle) };
    }
    if (claim.state === "held") {
      // Another process considers the server an orphan and owns it now; it will stop it.
      watchdog.stop();
      throw databaseInUseError(folders.folder, claim.holder);
    }
    if (Date.now() > deadlineMs) {
      child.kill("SIGQUIT");
      const reason = `FATAL: it was not ready after ${RECOVERY_MS_MAX / 1000} seconds`;
      throw createStartError("started", folders.folder, reason);
    }
    await sleep(CLAIM_EVERY_MS);
  }
  const output = readLogTail(folders.logFile, logOffset);
  if (TEMPORARY_FAILURE.test(output)) return null;
  throw createStartError("started", folders.folder, output || `FATAL: it ended with ${await exited}`);
}

async function spawnServer(
  folders: ServerFolders,
  binaries: PostgresBinaries,
  durability: Durability,
): Promise<{ child: ChildProcess; pid: number; exit: Promise<string> }> {
  const logDescriptor = openSync(folders.logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(binaries.postgres, serverArguments(folders, durability), {
      ...folders.account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      // Its own session: Ctrl-C ends only this process, which stops the server when its own work is done.
      detached: true,
      stdio: ["ignore", logDescriptor, logDescriptor],
    });
  } finally {
    closeSync(logDescriptor);
  }
  const exit = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ? `signal ${signal}` : `code ${code}`));
  });
  const { pid } = child;
  if (pid === undefined) throw createStartError("started", folders.folder, `FATAL: ${await exit}`);
  child.unref();
  return { child, pid, exit };
}

async function stopServer(child: ChildProcess, exited: Promise<string>, claim: ClaimHandle): Promise<void> {
  for (const [signal, waitMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS_MAX],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS_MAX],
    ["SIGKILL", IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    // The timer also keeps Node running: the child itself is unreferenced.
    const timeout = new AbortController();
    const hasExited = await Promise.race([
      exited.then(() => true),
      sleep(waitMs, false, { signal: timeout.signal }).catch(() => false),
    ]);
    timeout.abort();
    if (hasExited) break;
  }
  await claim.release();
}

/** Returns the size of the log, at which the output of the next server begins. */
function rotateLog(file: string): number {
  if (sizeOf(file) > LOG_BYTES_MAX) renameSync(file, `${file}.old`);
  return sizeOf(file);
}

function readLogTail(file: string, offset: number): string {
  const descriptor = openSync(file, "r");
  try {
    const start = Math.max(offset, sizeOf(file) - LOG_TAIL_BYTES);
    const buffer = Buffer.alloc(LOG_TAIL_BYTES);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, LOG_TAIL_BYTES, start));
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
