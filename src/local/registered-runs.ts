// The runs of this user, listed in its state folder, so that a command in any folder finds the run to work with.
import { readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Log } from "../lib/log.ts";
import { readIfExists, readRun } from "./run-files.ts";

/** No keys: those of a local run are in its data folder. */
type RegisteredRun = { readonly pid: number; readonly api: string; readonly dataFolder: string };

/** Returns what removes the entry. A state folder that cannot be written must not end the run. */
export async function registerRun(
  stateFolder: string,
  { api, dataFolder }: Pick<RegisteredRun, "api" | "dataFolder">,
  log: Log,
): Promise<() => Promise<void>> {
  const folder = join(stateFolder, "runs");
  const file = join(folder, `${process.pid}.json`);
  const run: RegisteredRun = { pid: process.pid, api, dataFolder: resolve(dataFolder) };
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await deleteEndedRuns(stateFolder);
    await writeFile(file, `${JSON.stringify(run)}\n`, { mode: 0o600 });
    return () => rm(file, { force: true });
  } catch (err) {
    log.info(
      { component: "local", event: "run_not_registered", err },
      "Commands in other folders will not find this run by themselves",
    );
    return async () => undefined;
  }
}

/** Leaves out runs that have ended. */
export function listRegisteredRuns(stateFolder: string): readonly RegisteredRun[] {
  return readEntries(stateFolder).flatMap(({ run }) => (run === null ? [] : [run]));
}

async function deleteEndedRuns(stateFolder: string): Promise<void> {
  for (const { file, run } of readEntries(stateFolder)) if (run === null) await rm(file, { force: true });
}

/** With null for a run that has ended. Its data folder tells: it names the process while that runs. */
function readEntries(stateFolder: string): readonly { file: string; run: RegisteredRun | null }[] {
  const folder = join(stateFolder, "runs");
  return listFiles(folder).map((name) => {
    const file = join(folder, name);
    try {
      const { pid, api, dataFolder } = JSON.parse(readIfExists(file) ?? "") as RegisteredRun;
      return { file, run: readRun(dataFolder)?.pid === pid ? { pid, api, dataFolder } : null };
    } catch {
      // An entry that cannot be read names no run.
      return { file, run: null };
    }
  });
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    // No run has been registered, or the folder belongs to another user.
    return [];
  }
}
