// `sextant indexer`: follows the chain and writes the rows; a second one stands by until the first is gone.
import { createServer } from "../http/server.ts";
import { systemClock } from "../kit/clock.ts";
import { type Config, readConfig } from "../kit/config.ts";
import { Fault } from "../kit/fault.ts";
import type { Log } from "../kit/log.ts";
import type { Database } from "../store/database.ts";
import { writeIndexerReport } from "../store/indexer-report.ts";
import type { RunCommand } from "./command.ts";
import { createIndexerStatus, type IndexerStatus } from "./indexer-status.ts";
import { openConfiguredDatabase } from "./open-database.ts";
import { readDeployment } from "./read-deployment.ts";
import { runIndexer } from "./run-indexer.ts";
import { databaseSettings, indexerSettings, listenSettings, requestSettings } from "./settings.ts";
import { addStatusRoutes } from "./status-routes.ts";

// Often enough for a readiness probe, seldom enough to cost nothing.
const REPORT_MS = 1_000;

export const indexer: RunCommand = async ({ environment, log, stop, onListening }) => {
  const settings = { ...listenSettings, ...requestSettings, ...databaseSettings, ...indexerSettings };
  const config = readConfig(environment, settings);
  if (config.rpcUrls.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "RPC_URL must name at least one node of the chain, such as https://sepolia.base.org.",
    );
  }
  const deployment = await readDeployment(config.network);
  const status = createIndexerStatus(log, systemClock);
  const { database, close } = await openConfiguredDatabase(config, log, "indexer");
  const server = statusServer(config, status, log);
  const reports = reportEvery(database, status, log);
  try {
    const url = await server.listen({
      host: config.host,
      port: config.indexerPort,
      variable: "INDEXER_PORT",
    });
    log.info(`Indexing ${deployment.network} (chain ${deployment.chainId}); health and metrics on ${url}`);
    onListening?.(url);
    const { logRangeMax, comparedPercent, auditSeconds, rpcUrls: urls } = config;
    await runIndexer({
      database,
      deployment,
      urls,
      logRangeMax,
      comparedPercent,
      auditMs: auditSeconds * 1_000,
      log,
      stop,
      report: status,
      onCall: status.onCall,
    });
  } finally {
    clearInterval(reports);
    await server.close();
    await close();
  }
  return 0;
};

function statusServer(
  config: Config<typeof requestSettings>,
  status: IndexerStatus,
  log: Log,
): ReturnType<typeof createServer> {
  const server = createServer({ ...config, log, ready: async () => status.readiness() });
  addStatusRoutes(server.app, status.registry);
  return server;
}

/** Only the one that writes speaks for the index; a standby would overwrite its report. */
function reportEvery(database: Database, status: IndexerStatus, log: Log): NodeJS.Timeout {
  return setInterval(() => {
    const report = status.report();
    if (report.phase === "standby" || report.phase === "starting") return;
    writeIndexerReport(database, report).catch((err) => log.debug({ err }, "The report could not be stored"));
  }, REPORT_MS);
}
