// Creates folders under a temporary name and renames them when they are complete; removes what a crash left behind.
import { randomBytes } from "node:crypto";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlreadyExistsError, isNotFoundError } from "./errors.ts";
import { isProcessAlive } from "./processes.ts";

const UNFINISHED = /\.new-(\d+)-[0-9a-f]+$/;
// No folder takes this long to fill. The age matters because a container may have reused its creator's pid.
const UNFINISHED_MS_MAX = 3_600_000;

/** Fills a folder next to `path` and renames it to `path`. If another process was first, its folder stays. */
export async function createFolderAtomically(
  path: string,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    await fill(unfinished);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isAlreadyExistsError(error)) throw error;
  }
}

/** Removes unfinished folders of processes that no longer run. */
export async function removeUnfinishedFolders(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = UNFINISHED.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(folder, name);
    if (isProcessAlive(Number(pid)) && Date.now() - (await lstat(path)).mtimeMs < UNFINISHED_MS_MAX) continue;
    await rm(path, { recursive: true, force: true });
  }
}

export async function isEmptyOrMissing(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (isNotFoundError(error)) return true;
    throw error;
  }
}
