// `sextant indexer`: follows the chain and writes the rows. Further processes stand by until the first one is gone.
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings, indexerSettings, listenSettings, requestSettings } from "../../config/settings.ts";
import { createHttpServer } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { startReporting } from "../../indexer/report.ts";
import { runIndexer } from "../../indexer/run.ts";
import { createIndexerStatus, type IndexerStatus } from "../../indexer/status.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { readDeployment } from "../../protocol/deployment.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import type { RunCommand } from "../command.ts";

export const indexerCommand: RunCommand = async ({ environment, log, stop, onListening }) => {
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
  const server = createStatusServer(config, status, log);
  const reportTimer = startReporting(database, status, log);
  try {
    const url = await server.listen({
      host: config.host,
      port: config.indexerPort,
      portVariable: "INDEXER_PORT",
    });
    const { network, chainId } = deployment;
    log.info({ component: "cli", event: "indexer_listening", url, network, chainId }, "Indexer is listening");
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
    clearInterval(reportTimer);
    await server.close();
    await close();
  }
  return 0;
};

function createStatusServer(
  config: Config<typeof requestSettings>,
  status: IndexerStatus,
  log: Log,
): ReturnType<typeof createHttpServer> {
  const server = createHttpServer({ ...config, log, checkReadiness: async () => status.readiness() });
  addStatusRoutes(server.app, status.registry);
  return server;
}
