// `sextant api`: the indexing API over the database; any number of them run side by side.
import { Registry } from "prom-client";
import { indexReadiness } from "../../api/readiness.ts";
import { serveApi } from "../../api/serve.ts";
import { writeMode } from "../../api/write-mode.ts";
import { readConfig } from "../../config/read-config.ts";
import {
  apiSettings,
  databaseSettings,
  indexerSettings,
  listenSettings,
  requestSettings,
  writeSettings,
} from "../../config/settings.ts";
import { createServer } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { closeSoon } from "../../lib/shutdown.ts";
import { readDeployment } from "../../protocol/read-deployment.ts";
import { refuseOtherDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { aborted, type RunCommand } from "../command.ts";

const settings = {
  ...listenSettings,
  ...apiSettings,
  ...databaseSettings,
  ...requestSettings,
  ...writeSettings,
  network: indexerSettings.network,
  rpcUrls: indexerSettings.rpcUrls,
};

export const api: RunCommand = async ({ environment, log, stop, onListening }) => {
  const config = readConfig(environment, settings);
  const deployment = await readDeployment(config.network);
  writeMode(config, deployment.chainId);
  const { database, close } = await openConfiguredDatabase(config, log, "api");
  const registry = new Registry();
  const server = createServer({ ...config, log, registry, ready: () => indexReadiness(database) });
  let url = "";
  const writing = { deployment, config, urls: config.rpcUrls, listensAt: () => url };
  const isIndexReady = async () => (await indexReadiness(database)).ready;
  const api = serveApi(server, { database, log, writing, isIndexReady });
  try {
    await refuseOtherDeployment(database, deployment);
    addStatusRoutes(server.app, registry);
    url = await server.listen({ host: config.host, port: config.apiPort, variable: "API_PORT" });
    log.info({ url }, `indexing API on ${url}`);
    onListening?.(url);
    await aborted(stop);
  } finally {
    await closeSoon(server.close);
    await api.close();
    await close();
  }
  return 0;
};
