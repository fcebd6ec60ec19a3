// The indexer of a local run, and its database.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { apiSettings, indexerSettings } from "../config/indexing-settings.ts";
import type { Config } from "../config/read-config.ts";
import type { databaseSettings } from "../config/service-settings.ts";
import { runIndexer } from "../indexer/run.ts";
import { type IndexerStatus, startReporting } from "../indexer/status.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { type ConfiguredDatabase, openConfiguredDatabase } from "../store/open-database.ts";
import type { Database } from "../store/postgres/database.ts";
import type { RunState } from "./run-files.ts";
import type { LocalSimulation } from "./simulation.ts";

// The first few hundred blocks take a second or two.
const SYNC_WAIT_MS_MAX = 15_000;
const SYNC_POLL_MS = 50;

export function startLocalIndexing(
  database: Database,
  simulation: LocalSimulation,
  config: Pick<Config<typeof indexerSettings>, "logRangeMax" | "comparedPercent" | "auditSeconds">,
  status: IndexerStatus,
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
): { failed: Promise<never>; close(): Promise<void> } {
  const shutdown = new AbortController();
  const reportTimer = startReporting(database, status, log);
  const indexing = runIndexer({
    database,
    deployment: simulation.deployment,
    urls: [new Secret(simulation.rpcUrl), new Secret(simulation.wsUrl)],
    logRangeMax: config.logRangeMax,
    comparedPercent: config.comparedPercent,
    auditMs: config.auditSeconds * 1_000,
    log,
    stop: AbortSignal.any([stop, shutdown.signal]),
    report: status,
    onCall: status.onCall,
  });
  return {
    // Rejects when the indexer fails; stays pending after a normal stop.
    failed: indexing.then(() => new Promise<never>(() => undefined)),
    async close() {
      clearInterval(reportTimer);
      shutdown.abort();
      await indexing.catch(() => undefined);
    },
  };
}

/** Waits a moment, so that the first requests after the banner find data. */
export async function waitUntilSynced(status: IndexerStatus, stop: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < SYNC_WAIT_MS_MAX && !stop.aborted; waitedMs += SYNC_POLL_MS) {
    if (status.readiness().ready) return;
    await systemClock.sleep(SYNC_POLL_MS, stop).catch(() => undefined);
  }
}

/** With a folder of its own, also if its rows are elsewhere. */
type LocalDatabase = ConfiguredDatabase & { readonly folder: string };

/** Writes the deployment to the file that commands of the operator read, and returns their settings. */
export async function writeOperatorSettings(
  folder: string,
  { deployment, rpcUrl }: LocalSimulation,
): Promise<RunState["operator"]> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "deployment.json");
  await writeFile(file, `${JSON.stringify(deployment, null, 2)}\n`);
  return { NETWORK: file, RPC_URL: rpcUrl, SEXTANT_DATA: folder };
}

/**
 * Embedded unless DATABASE_URL is set, and deleted afterwards unless it should stay. Deletes the rows of the previous
 * run: the chains start fresh every time.
 */
export async function openLocalDatabase(
  config: Config<typeof apiSettings & typeof databaseSettings>,
  keepFolder: string | undefined,
  log: Log,
): Promise<LocalDatabase> {
  const folder = resolve(keepFolder ?? join(config.dataFolder, `local-${config.apiPort || process.pid}`));
  await rm(join(folder, "postgres"), { recursive: true, force: true });
  const { database, close } = await openConfiguredDatabase({ ...config, dataFolder: folder }, log, "local");
  return {
    database,
    folder,
    async close() {
      await close();
      if (keepFolder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
