// One run of the server program: spawned with its watchdog, ready when it can be claimed, stopped in bounded time.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Log } from "../../src/lib/log.ts";
import type { PostgresBinaries } from "./binaries.ts";
import { type ClaimHandle, claimServer, holdClaim } from "./claim.ts";
import { createStartError } from "./errors.ts";
import { databaseInUseError } from "./orphan.ts";
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
  /** Resolves with a description when the process is gone, for whatever reason. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 20;
// The log only holds warnings; what grew beyond this is history, and the one before it is dropped.
const LOG_BYTES_MAX = 5_000_000;
const LOG_TAIL_BYTES = 8_000;
// Another process was quicker, or children of a killed server still hold its memory: look again, do not fail.
const PASSING =
  /lock file ".*" already exists|pre-existing shared memory block|received fast shutdown request/;

/** Null when the server left for a passing reason and starting again is worthwhile. */
export async function startServerProcess(
  home: ServerFolders,
  program: PostgresBinaries,
  durability: Durability,
  log: Log,
  whenClaimed: (session: Client) => Promise<void>,
): Promise<ServerProcess | null> {
  const { fd, offset } = openLog(home.logFile);
  let child: ChildProcess;
  try {
    child = spawn(program.postgres, serverArguments(home, durability), {
      ...home.account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      // Its own session: Ctrl-C is for us, and we stop the server when our own work is done.
      detached: true,
      stdio: ["ignore", fd, fd],
    });
  } finally {
    closeSync(fd);
  }
  const end = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ? `signal ${signal}` : `code ${code}`));
  });
  const { pid } = child;
  if (pid === undefined) throw createStartError("started", home.folder, `FATAL: ${await end}`);
  child.unref();
  const watchdog = startWatchdog(pid, home, log);
  let gone = false;
  const exited = end.then((how) => {
    gone = true;
    watchdog.stop();
    return how;
  });

  const until = Date.now() + RECOVERY_MS_MAX;
  while (!gone) {
    const claim = await claimServer(home.socketFolder);
    if (claim.state === "claimed") {
      await whenClaimed(claim.session);
      const kept = holdClaim(claim.session, { socketFolder: home.socketFolder, hasExited: () => gone, log });
      return { pid, exited, stop: () => stop(child, exited, kept) };
    }
    if (claim.state === "held") {
      // Another process took the server for an orphan; it is its to stop now.
      watchdog.stop();
      throw databaseInUseError(home, claim.holder);
    }
    if (Date.now() > until) {
      child.kill("SIGQUIT");
      throw createStartError(
        "started",
        home.folder,
        `FATAL: it was not ready after ${RECOVERY_MS_MAX / 1000} seconds`,
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
  const said = tail(home.logFile, offset);
  if (PASSING.test(said)) return null;
  throw createStartError("started", home.folder, said || `FATAL: it ended with ${await exited}`);
}

async function stop(child: ChildProcess, exited: Promise<string>, claim: ClaimHandle): Promise<void> {
  // Timers keep us alive while waiting: an unreferenced child would let Node leave half-way.
  for (const [signal, waitMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS_MAX],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS_MAX],
    ["SIGKILL", IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const late = new AbortController();
    const left = await Promise.race([
      exited.then(() => true),
      sleep(waitMs, false, { signal: late.signal }).catch(() => false),
    ]);
    late.abort();
    if (left) break;
  }
  await claim.release();
}

function openLog(file: string): { fd: number; offset: number } {
  if (sizeOf(file) > LOG_BYTES_MAX) renameSync(file, `${file}.old`);
  const offset = sizeOf(file);
  return { fd: openSync(file, "a", 0o600), offset };
}

function tail(file: string, offset: number): string {
  const fd = openSync(file, "r");
  try {
    const start = Math.max(offset, sizeOf(file) - LOG_TAIL_BYTES);
    const buffer = Buffer.alloc(LOG_TAIL_BYTES);
    return buffer.toString("utf8", 0, readSync(fd, buffer, 0, LOG_TAIL_BYTES, start));
  } finally {
    closeSync(fd);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
