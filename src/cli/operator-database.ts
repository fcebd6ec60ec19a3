// The database that a command of the operator works on: that of the running service, or the configured one. It says which.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { indexerSettings } from "../config/indexing-settings.ts";
import { splitPostgresUrl } from "../config/postgres-url.ts";
import { type Config, type Environment, readConfig } from "../config/read-config.ts";
import { databaseSettings } from "../config/service-settings.ts";
import { Fault } from "../lib/fault.ts";
import { listRegisteredRuns } from "../local/registered-runs.ts";
import { type RunState, readRun } from "../local/run-files.ts";
import { findStateFolder } from "./run-folder.ts";

type OperatorDatabase = {
  /** Settings of the command, with those of the run that it joins. */
  readonly environment: Environment;
  /** One sentence for the operator. */
  readonly note: string;
};

const settings = { ...databaseSettings, network: indexerSettings.network };

/** Throws if there is no database: the command would create an empty one, which looks like that of the operator. */
export function chooseOperatorDatabase(environment: Environment): OperatorDatabase {
  const run = findRun(environment);
  const joined = joinRun(environment, run);
  const config = readConfig(joined, settings);
  const place = describePlace(config);
  if (run !== null) return { environment: joined, note: `Using the run at ${run.api}, ${place}.` };
  if (config.databaseUrl === null && !existsSync(join(config.dataFolder, "postgres", "data"))) {
    throw new Fault(
      "CONFIG_INVALID",
      `There is no database in ${config.dataFolder} and nothing runs with it: ${nameFolders(environment)}, or DATABASE_URL.`,
    );
  }
  return { environment: joined, note: `Using ${place}, for the deployment ${config.network}.` };
}

/** Settings that are given come before those of the run. */
export function joinRun(environment: Environment, run: RunState | null): Environment {
  const dataFolder = run?.operator.SEXTANT_DATA;
  // The database of a local run is in a folder of its own, below the one in which the run was found.
  return { ...run?.operator, ...environment, ...(dataFolder && { SEXTANT_DATA: dataFolder }) };
}

/** Whether the operator names a deployment, or a database that the run does not use: the command takes that one. */
export function hasOtherSettings(environment: Environment, dataFolder: string): boolean {
  const { NETWORK, DEPLOYMENTS, DATABASE_URL } = environment;
  if (NETWORK !== undefined || DEPLOYMENTS !== undefined) return true;
  return DATABASE_URL !== undefined && readRun(dataFolder)?.hasDatabaseUrl !== true;
}

/** An operator's command never chooses a run elsewhere by itself: it may replace rows. */
function nameFolders(environment: Environment): string {
  const runs = listRegisteredRuns(findStateFolder(environment));
  if (runs.length === 0) return "set SEXTANT_DATA to the folder of one";
  return `set ${runs.map(({ api, dataFolder }) => `SEXTANT_DATA=${dataFolder} for the run at ${api}`).join(", ")}`;
}

function findRun(environment: Environment): RunState | null {
  const { dataFolder } = readConfig(environment, settings);
  const run = hasOtherSettings(environment, dataFolder) ? null : readRun(dataFolder);
  if (run?.hasDatabaseUrl !== true || environment.DATABASE_URL !== undefined) return run;
  throw new Fault(
    "CONFIG_INVALID",
    `The run at ${run.api} uses the database in its DATABASE_URL: set DATABASE_URL to the same one.`,
  );
}

/** Without user and password. */
function describePlace({ databaseUrl, databaseSchema, dataFolder }: Config<typeof settings>): string {
  const schema = `schema ${databaseSchema}`;
  if (databaseUrl === null) return `the embedded database in ${dataFolder}, ${schema}`;
  const servers = splitPostgresUrl(databaseUrl.reveal()).map((each) => new URL(each));
  const hosts = servers.map(({ host }) => host || "a socket").join(", ");
  return `the database ${servers[0]?.pathname.slice(1)} at ${hosts}, ${schema}`;
}
