// The data folder: initialised once and atomically, and checked for its major version.
import { chown, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFolderAtomically, isEmptyOrMissing } from "./atomic-folder.ts";
import type { PostgresBinaries } from "./binaries.ts";
import { createStartError, EmbeddedPostgresError, isNotFoundError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { runProgram } from "./processes.ts";
import { makePrivate, type ServerFolders } from "./server-folders.ts";
import type { Durability } from "./server-settings.ts";

export const SUPERUSER = "sextant";
// About a second on a local disk; slow network disks need up to a minute.
const INITDB_MS_MAX = 180_000;

export async function ensureCluster(
  folders: ServerFolders,
  binaries: PostgresBinaries,
  durability: Durability,
  log: Logger,
): Promise<void> {
  const { dataFolder } = folders;
  if (!(await isEmptyOrMissing(dataFolder)) && !(await isComplete(dataFolder))) {
    const brokenFolder = `${dataFolder}.broken-${Date.now()}`;
    log.warn(
      { component: "embedded-postgres", event: "data_folder_incomplete", folder: brokenFolder },
      "Data folder is incomplete, moving it aside",
    );
    await rename(dataFolder, brokenFolder);
  }
  if (await isEmptyOrMissing(dataFolder)) {
    log.info(
      {
        component: "embedded-postgres",
        event: "initialising",
        folder: dataFolder,
        version: binaries.version,
      },
      "Initialising the embedded database",
    );
    await createFolderAtomically(dataFolder, async (unfinished) => {
      await mkdir(unfinished);
      await makePrivate(unfinished, folders.account);
      await initialise(unfinished, binaries, folders, durability);
    });
  }
  await assertSameMajorVersion(dataFolder, binaries);
  await changeOwner(folders);
}

async function initialise(
  folder: string,
  binaries: PostgresBinaries,
  folders: ServerFolders,
  durability: Durability,
): Promise<void> {
  const args = [
    "-D",
    folder,
    "--username",
    SUPERUSER,
    "--encoding",
    "UTF8",
    "--locale",
    "C",
    "--no-instructions",
  ];
  // The socket's folder decides who may connect. TCP connections are rejected even if TCP is ever enabled.
  args.push("--auth-local", "trust", "--auth-host", "reject");
  if (durability === "none") args.push("--no-sync");
  const { succeeded, output } = await runProgram(binaries.initdb, args, {
    account: folders.account,
    timeoutMs: INITDB_MS_MAX,
  });
  if (!succeeded) throw createStartError("initialised", folders.folder, output);
}

async function isComplete(dataFolder: string): Promise<boolean> {
  try {
    await stat(join(dataFolder, "PG_VERSION"));
    await stat(join(dataFolder, "global", "pg_control"));
    return true;
  } catch (error) {
    if (isNotFoundError(error)) return false;
    throw error;
  }
}

async function assertSameMajorVersion(dataFolder: string, binaries: PostgresBinaries): Promise<void> {
  const major = (await readFile(join(dataFolder, "PG_VERSION"), "utf8")).trim();
  if (major === binaries.major) return;
  throw new EmbeddedPostgresError(
    "DATABASE_INCOMPATIBLE",
    `The data in ${dataFolder} was created by PostgreSQL ${major}, but this version of Sextant runs PostgreSQL ${binaries.major}; use another data folder, or migrate the data with pg_dump.`,
  );
}

// Data that root copied or restored belongs to root, and the server would not start on it.
async function changeOwner({ dataFolder, account }: ServerFolders): Promise<void> {
  const { uid, gid } = account;
  if (uid === undefined || gid === undefined || (await stat(dataFolder)).uid === uid) return;
  for (const entry of await readdir(dataFolder, { recursive: true })) {
    await chown(join(dataFolder, entry), uid, gid);
  }
  await makePrivate(dataFolder, account);
}
