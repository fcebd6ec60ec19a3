// The indexing API over a test database, listening on a port the system chose.
import { Registry } from "prom-client";
import { serveApi } from "../../src/doors/serve-api.ts";
import { addStatusRoutes } from "../../src/doors/status-routes.ts";
import { createServer, type ServerOptions } from "../../src/http/server.ts";
import { createLog } from "../../src/kit/log.ts";
import type { Database } from "../../src/store/database.ts";

export type TestApi = {
  readonly url: string;
  /** Every route that was registered, as `GET /agents/:agentId`. */
  readonly routes: readonly string[];
  close(): Promise<void>;
};

const quiet = createLog({ level: "silent", terminal: false, name: "test" });

export async function startTestApi(
  database: Database,
  options: Partial<ServerOptions> = {},
): Promise<TestApi> {
  const server = createServer({
    log: quiet,
    bodyBytesMax: 262_144,
    requestMsMax: 10_000,
    ready: async () => ({ ready: true }),
    ...options,
  });
  const routes: string[] = [];
  server.app.addHook("onRoute", ({ method, url }) => {
    routes.push(...[method].flat().map((each) => `${each} ${url}`));
  });
  const api = serveApi(server.app, { database, log: quiet });
  addStatusRoutes(server.app, new Registry());
  const url = await server.listen({ host: "127.0.0.1", port: 0, variable: "API_PORT" });
  return {
    url,
    routes,
    async close() {
      await server.close();
      await api.close();
    },
  };
}
