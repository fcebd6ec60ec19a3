// The folder of an embedded server, initialised once for the whole run: tests that start servers of their own copy it.
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createFolderAtomically, isEmptyOrMissing } from "@sextant/embedded-postgres/atomic-folder";
import { findBinariesPackage, installBinaries } from "@sextant/embedded-postgres/binaries";
import { ensureCluster } from "@sextant/embedded-postgres/cluster";
import { prepareServerFolders } from "@sextant/embedded-postgres/server-folders";
import { inject } from "vitest";
import { silentLog as log } from "../quiet-log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the folder; the first test that copies it makes it, and the end of the run removes it. */
    initialisedFolder: string;
  }
}

const copy = (...args: readonly string[]) => promisify(execFile)("cp", args);

/** Into the folder, which is created: the data of a server that was never started, and links to its programs. */
export async function copyInitialisedFolder(folder: string): Promise<void> {
  const source = inject("initialisedFolder");
  if (await isEmptyOrMissing(source)) await createFolderAtomically(source, initialise);
  await mkdir(folder, { recursive: true });
  await linkPrograms(source, folder);
  await copy("-a", join(source, "data"), folder);
}

async function initialise(unfinished: string): Promise<void> {
  await mkdir(unfinished);
  // The server runs as another account when the tests run as root, and must be able to pass.
  await chmod(unfinished, 0o711);
  await linkPrograms(join(dirname(inject("initialisedFolder")), "postgres"), unfinished);
  const folders = await prepareServerFolders(unfinished, log);
  const binaries = await installBinaries(await findBinariesPackage(), unfinished, folders.account, log);
  await ensureCluster(folders, binaries, "none", log);
}

/** Hard links to the programs of the other folder, if it has a copy: nothing changes them, and they are large. */
async function linkPrograms(from: string, to: string): Promise<void> {
  if (await isEmptyOrMissing(from)) return;
  for (const name of await readdir(from)) {
    if (name.startsWith("postgresql-")) await copy("-al", join(from, name), to);
  }
}
