// The data folder: initialised once, complete or not there at all, and never one of another major version.
import { chown, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { createFolderAtomically, isEmptyOrMissing } from "./atomic-folder.ts";
import type { PostgresBinaries } from "./binaries.ts";
import { createStartError, isNotFoundError } from "./errors.ts";
import { runProgram } from "./processes.ts";
import { makePrivate, type ServerFolders } from "./server-folders.ts";
import type { Durability } from "./server-settings.ts";

export const SUPERUSER = "sextant";
// About a second on a good disk; slow network disks have been seen to need most of a minute.
const INITDB_MS_MAX = 180_000;

export async function ensureCluster(
  home: ServerFolders,
  program: PostgresBinaries,
  durability: Durability,
  log: Log,
): Promise<void> {
  const { dataFolder } = home;
  if (!(await isEmptyOrMissing(dataFolder)) && !(await isComplete(dataFolder))) {
    const aside = `${dataFolder}.broken-${Date.now()}`;
    log.warn(
      { folder: aside },
      "The data folder is not a complete database; it was moved aside and a new one is made",
    );
    await rename(dataFolder, aside);
  }
  if (await isEmptyOrMissing(dataFolder)) {
    log.info(
      { folder: dataFolder, version: program.version },
      "Initialising the embedded PostgreSQL, about a second",
    );
    await createFolderAtomically(dataFolder, async (unfinished) => {
      await mkdir(unfinished);
      await makePrivate(unfinished, home.account);
      await initialise(unfinished, program, home, durability);
    });
  }
  await refuseOtherMajor(dataFolder, program);
  await handOver(dataFolder, home);
}

async function initialise(
  folder: string,
  program: PostgresBinaries,
  home: ServerFolders,
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
  // The socket's folder decides who may connect; over TCP nobody may, should anyone ever switch it on.
  args.push("--auth-local", "trust", "--auth-host", "reject");
  if (durability === "none") args.push("--no-sync");
  const { succeeded, output } = await runProgram(program.initdb, args, {
    account: home.account,
    timeoutMs: INITDB_MS_MAX,
  });
  if (!succeeded) throw createStartError("initialised", home.folder, output);
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

async function refuseOtherMajor(dataFolder: string, program: PostgresBinaries): Promise<void> {
  const major = (await readFile(join(dataFolder, "PG_VERSION"), "utf8")).trim();
  if (major === program.major) return;
  throw new Fault(
    "DATABASE_INCOMPATIBLE",
    `The data in ${dataFolder} was made by PostgreSQL ${major}, and this version of Sextant brings PostgreSQL ${program.major}; use another data folder, or bring it over with pg_dump.`,
  );
}

// Data that was copied or restored by root belongs to root, and the server would refuse it.
async function handOver(dataFolder: string, home: ServerFolders): Promise<void> {
  const { uid, gid } = home.account;
  if (uid === undefined || gid === undefined || (await stat(dataFolder)).uid === uid) return;
  for (const entry of await readdir(dataFolder, { recursive: true })) {
    await chown(join(dataFolder, entry), uid, gid);
  }
  await makePrivate(dataFolder, home.account);
}
