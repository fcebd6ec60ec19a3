// Folders that take long to fill are filled under another name and renamed when complete; crashes leave litter to sweep.
import { randomBytes } from "node:crypto";
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlreadyExistsError, isNotFoundError } from "./errors.ts";
import { isProcessAlive } from "./processes.ts";

const UNFINISHED = /\.new-(\d+)-[0-9a-f]+$/;
// Nothing of ours takes this long to fill; in a container the number of its maker may well be in use again.
const UNFINISHED_MS_MAX = 3_600_000;

/** Fills a folder beside `path` and renames it to `path`; when another process was first, its folder stays and ours goes. */
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

/** Removes what processes that are no longer alive left unfinished. */
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
