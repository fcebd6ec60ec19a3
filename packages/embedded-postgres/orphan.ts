// A server left running by a process that was killed: recognised, shut down in order, never fought over.
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { claimServer } from "./claim.ts";
import { type PostmasterFile, readPostmasterFile, removeStaleLockFiles } from "./postmaster-file.ts";
import { isProcessAlive, isServerProcessOf, waitForProcessExit } from "./processes.ts";
import type { ServerFolders } from "./server-folders.ts";
import { FAST_SHUTDOWN_MS_MAX, IMMEDIATE_SHUTDOWN_MS_MAX, RECOVERY_MS_MAX } from "./server-settings.ts";

const LOOK_EVERY_MS = 50;
// A killed owner's session ends as soon as the server reads from it; on a loaded machine that takes a moment.
const HELD_MS_MAX = 1_500;
// Between its first line in postmaster.pid and its socket a server needs milliseconds.
const SILENT_MS_MAX = 20_000;

/**
 * Returns when no server runs on the folder. One that nobody owns is stopped rather than adopted: the new one has
 * today's settings and a watchdog of ours, and the dead owner's watchdog can not shoot it a moment later.
 */
export async function stopOrphanServer(home: ServerFolders, log: Log): Promise<void> {
  const since = Date.now();
  for (;;) {
    const file = await readPostmasterFile(home.dataFolder);
    if (file === null) return;
    const claim = await claimServer(file.socketFolder || home.socketFolder);
    const waitedMs = Date.now() - since;

    if (claim.state === "claimed") {
      log.info({ serverPid: file.pid }, "Stopping the database server that an ended process left behind");
      await stopOrphan(file, home);
      return;
    }
    if (claim.state === "held" && waitedMs > HELD_MS_MAX) throw databaseInUseError(home, claim.holder);
    if (
      claim.state === "absent" &&
      !(isProcessAlive(file.pid) && isServerProcessOf(file.pid, home.dataFolder))
    ) {
      await removeStaleLockFiles(home);
      return;
    }
    if (waitedMs > (claim.state === "absent" ? SILENT_MS_MAX : RECOVERY_MS_MAX)) {
      throw new Fault(
        "DATABASE_START_FAILED",
        `A database server (process ${file.pid}) runs on ${home.folder} but does not answer; stop it and start again.`,
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
}

export function databaseInUseError(home: ServerFolders, holder: string): Fault {
  return new Fault(
    "DATABASE_IN_USE",
    `The database in ${home.folder} is in use by process ${holder}; give this one another --data folder or a DATABASE_URL.`,
  );
}

async function stopOrphan({ pid }: PostmasterFile, home: ServerFolders): Promise<void> {
  // It answered, but its number means nothing here: it runs in another container on the same volume.
  if (!isServerProcessOf(pid, home.dataFolder)) throw databaseInUseError(home, `${pid} of another container`);
  for (const [signal, waitMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS_MAX],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const) {
    if (isProcessAlive(pid)) process.kill(pid, signal);
    if (await waitForProcessExit(pid, waitMs)) return;
  }
  throw new Fault(
    "DATABASE_START_FAILED",
    `The database server left behind on ${home.folder} (process ${pid}) does not stop; end it and start again.`,
  );
}
