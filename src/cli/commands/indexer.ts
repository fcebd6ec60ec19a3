// `sextant indexer`: follows each deployment's chain and writes its rows. Further processes stand by until the first one is gone.

import { indexerSettings } from "../../config/indexing-settings.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings, listenSettings, requestSettings } from "../../config/service-settings.ts";
import { mergeMetrics } from "../../http/metrics.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import { addStatusRoutes, type Readiness } from "../../http/status-routes.ts";
import { runIndexer } from "../../indexer/run.ts";
import {
  createIndexerStatus,
  describeIndexPosition,
  type IndexerStatus,
  startReporting,
} from "../../indexer/status.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { assertSameDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabases, prepareSchema } from "../../store/open-database.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { RunCommand } from "../command.ts";
import { startStatusLine, WorkMeter } from "../display/progress.ts";
import { assertNodes, chooseDeployments, type InstalledDeployment } from "../installation.ts";

const settings = { ...listenSettings, ...requestSettings, ...databaseSettings, ...indexerSettings };

/** One deployment in this process. */
type IndexedDeployment = InstalledDeployment & {
  readonly database: Database;
  readonly status: IndexerStatus;
  readonly log: Log;
};

export const indexerCommand: RunCommand = async (context) => {
  const { environment, options, log, stop, onListening, progress } = context;
  const config = readConfig(environment, settings);
  const chosen = await chooseDeployments({ environment, options });
  assertNodes(chosen);
  const schemas = chosen.map(({ databaseSchema }) => databaseSchema);
  const { databases, close } = await openConfiguredDatabases(config, schemas, log, "indexer");
  const indexed = chosen.map((each, index): IndexedDeployment => {
    const own = chosen.length === 1 ? log : log.child({ deployment: each.name });
    const database = assertDefined(databases[index], "the database of a deployment");
    const status = createIndexerStatus(own, systemClock, progress !== undefined);
    return { ...each, database, log: own, status };
  });
  const server = createStatusServer(config, indexed, log);
  const reportTimers = indexed.map(({ database, status, log }) => startReporting(database, status, log));
  let stopStatus: () => void = () => undefined;
  try {
    // Two deployments that name one schema are a mistake in the configuration, not a failure to wait for.
    for (const { database, deployment } of indexed) await assertSameDeployment(database, deployment);
    const url = await server.listen({
      host: config.host,
      port: config.indexerPort,
      portVariable: "INDEXER_PORT",
    });
    for (const { log, deployment } of indexed) {
      const { network, chainId } = deployment;
      log.info(
        { component: "cli", event: "indexer_listening", url, network, chainId },
        "Indexer is listening",
      );
    }
    onListening?.(url);
    if (progress) stopStatus = startStatusLine(context, describeAll(indexed));
    await Promise.all(indexed.map((each) => runOne(each, config, { stop, isAlone: indexed.length === 1 })));
  } finally {
    stopStatus();
    for (const timer of reportTimers) clearInterval(timer);
    await server.close();
    await close();
  }
  return 0;
};

/** For a terminal: where each deployment is, and while it reads history how long that takes. */
function describeAll(indexed: readonly IndexedDeployment[]): () => string {
  const metered = indexed.map((each) => ({ ...each, meter: new WorkMeter(systemClock) }));
  return () =>
    metered
      .map(({ name, status, meter }) => `${name} ${describeIndexPosition(status.report(), meter).join(", ")}`)
      .join(" · ");
}

// As long as the pause between two attempts to connect to a node that is down.
const RETRY_MS = 10_000;

/**
 * Runs until `stop`. A failure ends the process if there is only one deployment; if there are others, it is reported
 * and tried again.
 */
async function runOne(
  { database, deployment, rpcUrls: urls, status, log }: IndexedDeployment,
  { logRangeMax, comparedPercent, auditSeconds }: Config<typeof indexerSettings>,
  { stop, isAlone }: { readonly stop: AbortSignal; readonly isAlone: boolean },
): Promise<void> {
  const auditMs = auditSeconds * 1_000;
  const limits = { logRangeMax, comparedPercent, auditMs };
  while (!stop.aborted) {
    try {
      const { onCall } = status;
      await runIndexer({ database, deployment, urls, ...limits, log, stop, report: status, onCall });
    } catch (error) {
      if (isAlone) throw error;
      status.onFailure(error, RETRY_MS);
      await systemClock.sleep(RETRY_MS, stop).catch(() => undefined);
      if (!stop.aborted)
        await prepareSchema(database, log).catch((failure) => status.onFailure(failure, RETRY_MS));
    }
  }
}

/** `/ready` and `/metrics` of all, and `/d/:name/ready` of each. */
function createStatusServer(
  config: Config<typeof requestSettings>,
  indexed: readonly IndexedDeployment[],
  log: Log,
): HttpServer {
  const server = createHttpServer({ ...config, log, checkReadiness: async () => readinessOfAll(indexed) });
  for (const { name, status } of indexed) {
    if (indexed.length > 1) status.registry.setDefaultLabels({ deployment: name });
    server.mount(name, { log, checkReadiness: async () => status.readiness() });
  }
  addStatusRoutes(server.app, mergeMetrics(indexed.map(({ status }) => status.registry)));
  return server;
}

function readinessOfAll(indexed: readonly IndexedDeployment[]): Readiness {
  const all = indexed.map(({ name, status }) => ({ name, readiness: status.readiness() }));
  const [first] = all;
  if (first && all.length === 1) return first.readiness;
  const reasons = all.flatMap(({ name, readiness }) =>
    readiness.ready ? [] : [`${name}: ${readiness.reason}`],
  );
  return reasons.length === 0 ? { ready: true } : { ready: false, reason: reasons.join(" ") };
}
