// `sextant api`: serves the indexing API. Any number of processes can share one database.
import { Registry } from "prom-client";
import { readIndexReadiness, serveApi } from "../../api/serve.ts";
import { storeWebhooksFile } from "../../api/webhooks/configured.ts";
import { resolveWriteMode } from "../../api/write-service.ts";
import { findChainById } from "../../chain/chains/chains.ts";
import { createRpcMetrics } from "../../chain/rpc/metrics.ts";
import { readConfig } from "../../config/read-config.ts";
import {
  apiSettings,
  databaseSettings,
  eventSettings,
  indexerSettings,
  listenSettings,
  replicaSettings,
  requestSettings,
  webhookSettings,
  writeSettings,
} from "../../config/settings.ts";
import { createHttpServer } from "../../http/server.ts";
import { addStatusRoutes, type Readiness } from "../../http/status-routes.ts";
import { closeWithDeadline, waitForAbort } from "../../lib/shutdown.ts";
import { readDeployment } from "../../protocol/deployment.ts";
import { assertSameDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabase, openConfiguredReplicas } from "../../store/open-database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import type { RunCommand } from "../command.ts";

/** Of a chain that Sextant does not know: every EVM chain counts its coin in wei. */
const UNNAMED_COIN = { symbol: "native coin", decimals: 18 };

const settings = {
  ...listenSettings,
  ...apiSettings,
  ...databaseSettings,
  ...replicaSettings,
  ...eventSettings,
  ...requestSettings,
  ...writeSettings,
  ...webhookSettings,
  network: indexerSettings.network,
  rpcUrls: indexerSettings.rpcUrls,
};

export const apiCommand: RunCommand = async ({ environment, log, stop, onListening }) => {
  const config = readConfig(environment, settings);
  const deployment = await readDeployment(config.network);
  // Report a forbidden write mode before anything starts.
  resolveWriteMode(config, deployment.chainId);
  const { database, close } = await openConfiguredDatabase(config, log, "api");
  const replicas = openConfiguredReplicas(config, log, "api");
  const registry = new Registry();
  const server = createHttpServer({
    ...config,
    log,
    registry,
    checkReadiness: async () => withReplicas(await readIndexReadiness(database), api.describeReplicas()),
  });
  let url = "";
  const onCall = createRpcMetrics(registry);
  const writes = { deployment, config, urls: config.rpcUrls, onCall, listenUrl: () => url };
  const isIndexReady = async () => (await readIndexReadiness(database)).ready;
  const { eventStreamsMax: streamsMax, eventStreamsPerClientMax: streamsPerClientMax } = config;
  const eventStreams = { streamsMax, streamsPerClientMax };
  const webhooks = { config, chainId: deployment.chainId };
  const publicUrl = () => config.publicBaseUrl ?? url;
  const native = findChainById(deployment.chainId)?.native ?? UNNAMED_COIN;
  const explorer = { chain: { explorerUrl: null, tokens: {}, native, ...deployment }, publicUrl };
  const common = { database, replicas, log, registry, explorer };
  const api = serveApi(server, { ...common, writes, webhooks, isIndexReady, eventStreams });
  try {
    await assertSameDeployment(database, deployment);
    await storeWebhooksFile(openRecordStore(database), {
      path: config.webhooksFile,
      chainId: deployment.chainId,
    });
    addStatusRoutes(server.app, registry);
    url = await server.listen({ host: config.host, port: config.apiPort, portVariable: "API_PORT" });
    log.info({ component: "cli", event: "api_listening", url }, "Indexing API is listening");
    onListening?.(url);
    await waitForAbort(stop);
  } finally {
    await closeWithDeadline([server.close]);
    await api.close();
    await replicas.close();
    await close();
  }
  return 0;
};

/** What is wrong with a replica is worth knowing; the primary serves its reads meanwhile. */
function withReplicas(readiness: Readiness, replicas: readonly unknown[]): Readiness {
  return readiness.ready && replicas.length > 0
    ? { ...readiness, details: { ...readiness.details, replicas } }
    : readiness;
}
