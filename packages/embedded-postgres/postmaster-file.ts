// postmaster.pid: what a server, running or dead, says about itself in its data folder.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNotFoundError } from "./errors.ts";
import { isProcessAlive, isServerProcessOf } from "./processes.ts";
import type { ServerFolders } from "./server-folders.ts";

export type PostmasterFile = { readonly pid: number; readonly socketFolder: string };

/** Null when there is none, or when it is still being written: then its server will soon have written more. */
export async function readPostmasterFile(dataFolder: string): Promise<PostmasterFile | null> {
  const lines = await linesOf(join(dataFolder, "postmaster.pid"));
  const pid = Number(lines[0]);
  const socketFolder = lines[4]?.trim();
  return Number.isInteger(pid) && pid > 0 ? { pid, socketFolder: socketFolder ?? "" } : null;
}

/**
 * A lock file whose number now belongs to a stranger (after a reboot, or in a new container on an old volume) would
 * make the server refuse to start for ever. Numbers of dead processes the server sorts out itself.
 */
export async function removeStaleLockFiles(home: ServerFolders): Promise<void> {
  const files = [join(home.dataFolder, "postmaster.pid"), join(home.socketFolder, ".s.PGSQL.5432.lock")];
  for (const file of files) {
    const pid = Number((await linesOf(file))[0]);
    if (pid > 0 && isProcessAlive(pid) && !isServerProcessOf(pid, home.dataFolder))
      await rm(file, { force: true });
  }
}

async function linesOf(file: string): Promise<string[]> {
  try {
    return (await readFile(file, "utf8")).split("\n");
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}
