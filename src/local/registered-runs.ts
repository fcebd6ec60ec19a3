// The runs of this user, listed in its state folder, so that a command in any folder finds the run to work with.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Log } from "../lib/log.ts";
import { listRuns, RUN_KINDS, runFile } from "./run-files.ts";

/** No keys: those of a local run are in its data folder. */
type RegisteredRun = {
  readonly pid: number;
  /** Tells the process from a later one with the same id; null if the system does not say. */
  readonly processStart: string | null;
  readonly api: string;
  readonly dataFolder: string;
};

// The group and all others.
const WRITABLE_MASK = 0o022;

/** Returns what removes the entry. A state folder that is missing or cannot be written must not end the run. */
export async function registerRun(
  stateFolder: string | null,
  { api, dataFolder }: Pick<RegisteredRun, "api" | "dataFolder">,
  log: Log,
): Promise<() => Promise<void>> {
  if (stateFolder === null) return async () => undefined;
  const { pid } = process;
  const folder = join(stateFolder, "runs");
  const file = join(folder, `${pid}.json`);
  const processStart = readProcessStart(pid);
  const run: RegisteredRun = { pid, processStart, api, dataFolder: resolve(dataFolder) };
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
export function listRegisteredRuns(stateFolder: string | null): readonly RegisteredRun[] {
  if (stateFolder === null) return [];
  return readEntries(stateFolder).flatMap(({ run }) => (run === null ? [] : [run]));
}

async function deleteEndedRuns(stateFolder: string): Promise<void> {
  for (const { file, run } of readEntries(stateFolder)) if (run === null) await rm(file, { force: true });
}

/** With null for a run that has ended. */
function readEntries(stateFolder: string): readonly { file: string; run: RegisteredRun | null }[] {
  return listFiles(join(stateFolder, "runs")).flatMap((file) => {
    try {
      if (!isOwnFile(file)) return [];
      const run = JSON.parse(readFileSync(file, "utf8")) as RegisteredRun;
      return [{ file, run: isRunning(run) ? run : null }];
    } catch {
      // An entry that cannot be read names no run.
      return [{ file, run: null }];
    }
  });
}

/** The data folder tells: it names the process while that runs. */
function isRunning({ pid, processStart, api, dataFolder }: RegisteredRun): boolean {
  if (processStart && processStart !== readProcessStart(pid)) return false;
  const isOwn = RUN_KINDS.every((kind) => isOwnFile(runFile(dataFolder, kind)));
  return isOwn && [...listRuns(dataFolder)].some((run) => run.pid === pid && run.api === api);
}

/** Whether only this user can have written the file, or there is none: the file names services and a payee. */
function isOwnFile(file: string): boolean {
  const status = lstatSync(file, { throwIfNoEntry: false });
  // Windows has neither.
  if (status === undefined || process.getuid === undefined) return true;
  return status.uid === process.getuid() && (status.mode & WRITABLE_MASK) === 0;
}

/** The boot and the clock ticks from it to the start of the process. */
function readProcessStart(pid: number): string | null {
  if (process.platform !== "linux") return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the name in brackets, which may contain spaces; the start is the 22nd.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()} ${ticks}`;
  } catch {
    // The process has ended, or the system hides it.
    return null;
  }
}

function listFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.map((name) => join(folder, name));
  } catch {
    // No run has been registered, or the folder belongs to another user.
    return [];
  }
}
