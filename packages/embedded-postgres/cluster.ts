// The data folder: initialised once, complete or not there at all, and never one of another major version.
import { chown, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { completeFolder, isEmptyOrMissing } from "./atomic-folder.ts";
import type { Program } from "./binaries.ts";
import { startFault } from "./errors.ts";
import { isMissing } from "./file-errors.ts";
import { runTool } from "./run-program.ts";
import { makePrivate, type ServerHome } from "./server-folders.ts";
import type { Durability } from "./server-settings.ts";

export const SUPERUSER = "sextant";
// About a second on a good disk; slow network disks have been seen to need most of a minute.
const INITDB_MS_MAX = 180_000;

export async function ensureCluster(
  home: ServerHome,
  program: Program,
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
    await completeFolder(dataFolder, async (unfinished) => {
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
  program: Program,
  home: ServerHome,
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
  const { succeeded, output } = await runTool(program.initdb, args, {
    account: home.account,
    timeMsMax: INITDB_MS_MAX,
  });
  if (!succeeded) throw startFault("initialised", home.folder, output);
}

async function isComplete(dataFolder: string): Promise<boolean> {
  try {
    await stat(join(dataFolder, "PG_VERSION"));
    await stat(join(dataFolder, "global", "pg_control"));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function refuseOtherMajor(dataFolder: string, program: Program): Promise<void> {
  const major = (await readFile(join(dataFolder, "PG_VERSION"), "utf8")).trim();
  if (major === program.major) return;
  throw new Fault(
    "DATABASE_INCOMPATIBLE",
    `The data in ${dataFolder} was made by PostgreSQL ${major}, and this version of Sextant brings PostgreSQL ${program.major}; use another data folder, or bring it over with pg_dump.`,
  );
}

// Data that was copied or restored by root belongs to root, and the server would refuse it.
async function handOver(dataFolder: string, home: ServerHome): Promise<void> {
  const { uid, gid } = home.account;
  if (uid === undefined || gid === undefined || (await stat(dataFolder)).uid === uid) return;
  for (const entry of await readdir(dataFolder, { recursive: true })) {
    await chown(join(dataFolder, entry), uid, gid);
  }
  await makePrivate(dataFolder, home.account);
}
