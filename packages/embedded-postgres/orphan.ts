// A server left running by a process that was killed: detected and shut down in order.
import { setTimeout as sleep } from "node:timers/promises";
import { claimServer } from "./claim.ts";
import { databaseInUseError, EmbeddedPostgresError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { type PostmasterFile, readPostmasterFile, removeStaleLockFiles } from "./postmaster-file.ts";
import { isProcessAlive, isServerProcessOf, waitForProcessExit } from "./processes.ts";
import type { ServerFolders } from "./server-folders.ts";
import { FAST_SHUTDOWN_MS_MAX, IMMEDIATE_SHUTDOWN_MS_MAX, RECOVERY_MS_MAX } from "./server-settings.ts";

const CHECK_EVERY_MS = 50;
// The session of a killed owner ends as soon as the server reads from it, which a loaded machine delays.
const HELD_MS_MAX = 1_500;
// A server opens its socket milliseconds after it created postmaster.pid.
const SOCKET_MISSING_MS_MAX = 20_000;

/**
 * Returns when no server runs on the folder. A server without an owner is stopped rather than adopted: a new one has
 * the current settings and our own watchdog, and the dead owner's watchdog cannot stop it a moment later.
 */
export async function stopOrphanServer(folders: ServerFolders, log: Logger): Promise<void> {
  const startMs = Date.now();
  for (;;) {
    const file = await readPostmasterFile(folders.dataFolder);
    if (file === null) return;
    const claim = await claimServer(file.socketFolder || folders.socketFolder);
    const waitedMs = Date.now() - startMs;

    if (claim.state === "claimed") {
      log.info(
        { component: "embedded-postgres", event: "stopping_orphan", serverPid: file.pid },
        "Stopping an orphaned database server",
      );
      await stopOrphan(file, folders);
      return;
    }
    if (claim.state === "held" && waitedMs > HELD_MS_MAX)
      throw databaseInUseError(folders.folder, claim.holder);
    if (
      claim.state === "absent" &&
      !(isProcessAlive(file.pid) && isServerProcessOf(file.pid, folders.dataFolder))
    ) {
      await removeStaleLockFiles(folders);
      return;
    }
    if (waitedMs > (claim.state === "absent" ? SOCKET_MISSING_MS_MAX : RECOVERY_MS_MAX)) {
      throw new EmbeddedPostgresError(
        "DATABASE_START_FAILED",
        `A database server (process ${file.pid}) runs on ${folders.folder} but does not respond; stop it and start again.`,
      );
    }
    await sleep(CHECK_EVERY_MS);
  }
}

async function stopOrphan({ pid }: PostmasterFile, folders: ServerFolders): Promise<void> {
  // It accepts connections, but its pid is not valid here: it runs in another container on the same volume.
  if (!isServerProcessOf(pid, folders.dataFolder))
    throw databaseInUseError(folders.folder, `${pid} of another container`);
  for (const [signal, waitMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS_MAX],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const) {
    if (isProcessAlive(pid)) process.kill(pid, signal);
    if (await waitForProcessExit(pid, waitMs)) return;
  }
  throw new EmbeddedPostgresError(
    "DATABASE_START_FAILED",
    `The orphaned database server on ${folders.folder} (process ${pid}) does not stop; end it and start again.`,
  );
}
