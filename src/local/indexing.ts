// The indexer of a local run: begun at once, waited for until there is something to see, and ended with the run.

import type { CommandContext } from "../cli/command.ts";
import type { Config } from "../config/read-config.ts";
import type { indexerSettings } from "../config/settings.ts";
import { runIndexer } from "../indexer/run.ts";
import type { IndexerStatus } from "../indexer/status.ts";
import { systemClock } from "../lib/clock.ts";
import { Secret } from "../lib/secret.ts";
import type { Database } from "../store/postgres/database.ts";
import type { LocalSimulation } from "./simulation.ts";

// The first few hundred blocks are indexed within a second or two.
const LEVEL_MS_MAX = 15_000;
const LEVEL_LOOK_MS = 50;

export function startLocalIndexing(
  database: Database,
  economy: LocalSimulation,
  config: Pick<Config<typeof indexerSettings>, "logRangeMax" | "comparedPercent" | "auditSeconds">,
  status: IndexerStatus,
  { log, stop }: CommandContext,
): { failed: Promise<never>; close(): Promise<void> } {
  const leaving = new AbortController();
  const indexing = runIndexer({
    database,
    deployment: economy.deployment,
    urls: [new Secret(economy.rpcUrl), new Secret(economy.wsUrl)],
    logRangeMax: config.logRangeMax,
    comparedPercent: config.comparedPercent,
    auditMs: config.auditSeconds * 1_000,
    log,
    stop: AbortSignal.any([stop, leaving.signal]),
    report: status,
    onCall: status.onCall,
  });
  return {
    // Ends only by failing, or because it was told to.
    failed: indexing.then(() => new Promise<never>(() => undefined)),
    async close() {
      leaving.abort();
      await indexing.catch(() => undefined);
    },
  };
}

/** Whoever clicks at once should find something: a moment more, but never long. */
export async function waitUntilSynced(status: IndexerStatus, stop: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < LEVEL_MS_MAX && !stop.aborted; waitedMs += LEVEL_LOOK_MS) {
    if (status.readiness().ready) return;
    await systemClock.sleep(LEVEL_LOOK_MS, stop).catch(() => undefined);
  }
}
