// The data folder of the run that a command works with: the one that is set, that of this folder, or the user's only run.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import { START_LOCAL } from "../lib/program.ts";
import { listRegisteredRuns } from "../local/registered-runs.ts";
import { readRun } from "../local/run-files.ts";

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
