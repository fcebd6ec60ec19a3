// `sextant api`: the indexing API over the database; any number of them run side by side.
import { Registry } from "prom-client";
import { createServer } from "../http/server.ts";
import { readConfig } from "../kit/config.ts";
import { aborted, type Command } from "./command.ts";
import { indexReadiness } from "./index-readiness.ts";
import { openConfiguredDatabase } from "./open-database.ts";
import { serveApi } from "./serve-api.ts";
import { apiSettings, databaseSettings, listenSettings, requestSettings } from "./settings.ts";
import { addStatusRoutes } from "./status-routes.ts";

export const api: Command = {
  about:
    "Serves the indexing API. It keeps no state of its own: run as many as you like over one PostgreSQL.\n" +
    "Reads DATABASE_URL, DATABASE_SCHEMA, HOST and API_PORT.",
  options: {},
  async run({ environment, log, stop }) {
    const settings = { ...listenSettings, ...apiSettings, ...databaseSettings, ...requestSettings };
    const config = readConfig(environment, settings);
    const { database, close } = await openConfiguredDatabase(config, log, "api");
    const server = createServer({ ...config, log, ready: () => indexReadiness(database) });
    const api = serveApi(server.app, { database, log });
    try {
      addStatusRoutes(server.app, new Registry());
      const url = await server.listen({ host: config.host, port: config.apiPort, variable: "API_PORT" });
      log.info({ url }, `indexing API on ${url}`);
      await aborted(stop);
    } finally {
      await server.close();
      await api.close();
      await close();
    }
    return 0;
  },
};
