// postmaster.pid: the pid and socket folder that a server, running or dead, wrote into its data folder.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNotFoundError } from "./errors.ts";
import { isProcessAlive, isServerProcessOf } from "./processes.ts";
import type { ServerFolders } from "./server-folders.ts";

export type PostmasterFile = { readonly pid: number; readonly socketFolder: string };

/** Null when the file is missing or incomplete; a starting server completes it within milliseconds. */
export async function readPostmasterFile(dataFolder: string): Promise<PostmasterFile | null> {
  const lines = await readLines(join(dataFolder, "postmaster.pid"));
  const pid = Number(lines[0]);
  const socketFolder = lines[4]?.trim();
  return Number.isInteger(pid) && pid > 0 ? { pid, socketFolder: socketFolder ?? "" } : null;
}

/**
 * Removes lock files whose pid now belongs to another program (after a reboot, or in a new container on an old
 * volume): the server would never start. It handles pids of dead processes itself.
 */
export async function removeStaleLockFiles(folders: ServerFolders): Promise<void> {
  const files = [
    join(folders.dataFolder, "postmaster.pid"),
    join(folders.socketFolder, ".s.PGSQL.5432.lock"),
  ];
  for (const file of files) {
    const pid = Number((await readLines(file))[0]);
    if (pid > 0 && isProcessAlive(pid) && !isServerProcessOf(pid, folders.dataFolder))
      await rm(file, { force: true });
  }
}

async function readLines(file: string): Promise<string[]> {
  try {
    return (await readFile(file, "utf8")).split("\n");
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}
