// The data folder of the run that a command works with: the one that is set, that of this folder, or the user's only run.
import { connect } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import { START_LOCAL } from "../lib/program.ts";
import { listRegisteredRuns } from "../local/registered-runs.ts";
import { readRun } from "../local/run-files.ts";

// A port of this machine accepts at once.
const CONNECT_MS_MAX = 1_000;

/** The folder in which programs of a user keep what must survive, by the convention of the system. Null without a home. */
export function findStateFolder(environment: Environment): string | null {
  const { XDG_STATE_HOME, LOCALAPPDATA, HOME } = environment;
  if (process.platform === "win32" && LOCALAPPDATA) return join(LOCALAPPDATA, "sextant");
  try {
    return join(XDG_STATE_HOME || join(HOME || homedir(), ".local", "state"), "sextant");
  } catch {
    // The system has no entry of this user, as in a container with a user of its own.
    return null;
  }
}

/** Returns the configured folder if no run is found. */
export function findRunFolder(environment: Environment, dataFolder: string): string {
  if (environment.SEXTANT_DATA !== undefined || readRun(dataFolder) !== null) return dataFolder;
  const runs = listRegisteredRuns(findStateFolder(environment));
  if (new Set(runs.map((run) => run.dataFolder)).size > 1) {
    const choices = runs.map((run) => `\n  SEXTANT_DATA=${run.dataFolder}   ${run.api}`);
    throw new Fault("CONFIG_INVALID", `Several runs are there. Set one:${choices.join("")}`);
  }
  return runs[0]?.dataFolder ?? dataFolder;
}

/** `otherwise` continues the sentence, such as "or set SEXTANT_API_URL to an indexing API". */
export function describeMissingRun(environment: Environment, otherwise: string): string {
  const start = `There is no local run: start one with ${START_LOCAL}, ${otherwise}.`;
  const [run] = environment.SEXTANT_DATA ? listRegisteredRuns(findStateFolder(environment)) : [];
  if (run === undefined) return start;
  return `${start} The run at ${run.api} has another folder: set SEXTANT_DATA=${run.dataFolder}`;
}

/** Throws if a run of this user has the API port of a new one, with the folder of that run and what to do. */
export async function assertNoRun(
  environment: Environment,
  { apiPort, dataFolder }: { readonly apiPort: number; readonly dataFolder: string },
): Promise<void> {
  const registered = listRegisteredRuns(findStateFolder(environment));
  const own = readRun(dataFolder);
  const runs = [...registered, ...(own === null ? [] : [{ api: own.api, dataFolder: resolve(dataFolder) }])];
  const run = runs.find(({ api }) => Number(new URL(api).port) === apiPort);
  if (run === undefined || !(await isListening(new URL(run.api)))) return;
  throw new Fault(
    "LISTEN_FAILED",
    `Sextant is running already at ${run.api}, with the folder ${run.dataFolder}. Use that run, or press Ctrl-C in its terminal. For a second one, set API_PORT, PORTFOLIO_PORT and FACILITATOR_PORT to free ports, and SEXTANT_DATA to another folder.`,
  );
}

/** An entry may be older than the process that now has its id. */
function isListening({ hostname, port }: URL): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    const end = (isOpen: boolean) => {
      socket.destroy();
      settle(isOpen);
    };
    socket.setTimeout(CONNECT_MS_MAX, () => end(false));
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
