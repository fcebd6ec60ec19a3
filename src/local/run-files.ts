// Files by which commands find the services that run with the same data folder: local.json of a local run, serve.json.
import { readFileSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Fault } from "../lib/fault.ts";
import { START_LOCAL } from "../lib/program.ts";

/** Payments by the client commands to a local run. */
export const LOCAL_JOURNAL = "payments.jsonl";

/** The files that every run writes. A local run adds its chains, keys and terms. */
export type RunState = {
  /** Absent in a file written by hand; then nothing says that the run has ended. */
  readonly pid?: number;
  readonly api: string;
  readonly portfolio?: string;
  readonly facilitator?: string;
  /** The chains that the run itself has. */
  readonly chains?: readonly { readonly chainId: number; readonly rpcUrl: string }[];
  /** Whether its database is the one in DATABASE_URL, which is a secret and not written here. */
  readonly hasDatabaseUrl: boolean;
  /** Settings with which a command of the operator works on this run. */
  readonly operator: Readonly<Record<string, string>>;
};

/** The local run first: it is there for as long as a developer tries things out. */
const FILES = { local: "local.json", serve: "serve.json" } as const;
export const RUN_KINDS = Object.keys(FILES) as readonly (keyof typeof FILES)[];
const RESTART = {
  local: `a local run writes; run ${START_LOCAL}`,
  serve: "`serve` writes; start it",
} as const;

export function runFile(dataFolder: string, kind: keyof typeof FILES): string {
  return join(dataFolder, FILES[kind]);
}

/** The run that uses this data folder; null if none does. A file whose process is gone does not count. */
export function readRun(dataFolder: string): RunState | null {
  return listRuns(dataFolder).next().value ?? null;
}

/** A local run and `serve` may share a data folder. */
export function* listRuns(dataFolder: string): Generator<RunState, undefined> {
  for (const kind of RUN_KINDS) {
    const state = parseState(runFile(dataFolder, kind), RESTART[kind]);
    if (state !== null && (state.pid === undefined || isAlive(state.pid))) yield state;
  }
}

function parseState(file: string, restart: string): RunState | null {
  const text = readIfExists(file);
  if (text === null) return null;
  try {
    const state = JSON.parse(text) as RunState;
    if (URL.canParse(state.api)) return { ...{ hasDatabaseUrl: false, operator: {} }, ...state };
  } catch {
    // Reported below, like a file of another form.
  }
  throw new Fault("CONFIG_INVALID", `${file} is not what ${restart} again.`);
}

/** Null if there is no such file. */
export function readIfExists(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR"))
      return null;
    throw new Fault("CONFIG_INVALID", `${file} cannot be read.`, { cause });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns the path. Runs with the same data folder share the file; the last one wins. */
export async function writeRunFile(
  dataFolder: string,
  kind: keyof typeof FILES,
  state: RunState,
): Promise<string> {
  await mkdir(dataFolder, { recursive: true });
  const path = runFile(dataFolder, kind);
  // Replaces the file by renaming, so that scripts never read a partial file. Owner-only, although the keys are public.
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, path);
  return relative(".", path);
}

/** Keeps the file if another run has replaced it, and then returns false. */
export async function deleteRunFile(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  if ((JSON.parse(text) as { pid?: number }).pid !== process.pid) return false;
  await rm(path, { force: true });
  return true;
}
