// The indexing API as a process of its own, put together as `sextant api` does, without a limit per client.

import { Registry } from "prom-client";
import { serveApi } from "../../src/api/serve.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { addStatusRoutes } from "../../src/http/status-routes.ts";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import {
  type BenchDatabaseTarget,
  benchLog,
  openBenchDatabase,
  openBenchReplicas,
} from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import { type ServerReady, startCpuTimeServer } from "./cpu-time.ts";

export type ApiReady = ServerReady & { readonly coldUrl: string };

export type ApiTask = BenchDatabaseTarget & {
  /** Servers to read from in place of the primary. */
  readonly readUrls?: readonly string[];
};

// The default of DATABASE_READ_LAG_MS_MAX.
const LAG_MS_MAX = 5_000;

const { readUrls = [], ...place } = JSON.parse(process.argv[2] ?? "") as ApiTask;
const database = await openBenchDatabase(place);
const replicas = openBenchReplicas(readUrls, place.schema);

async function serve(cacheBytesMax?: number) {
  const registry = new Registry();
  const server = createHttpServer({
    ...NO_LIMITS,
    log: benchLog,
    bodyBytesMax: 262_144,
    requestMsMax: 10_000,
    registry,
    checkReadiness: async () => ({ ready: true }),
  });
  const caching = cacheBytesMax === undefined ? {} : { cacheBytesMax };
  const api = serveApi(server, {
    database,
    replicas: { databases: replicas, lagMsMax: LAG_MS_MAX },
    registry,
    log: benchLog,
    ...caching,
  });
  addStatusRoutes(server.app, registry);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return {
    url,
    async close() {
      await server.close();
      await api.close();
    },
  };
}

const usual = await serve();
// The same without a cache: every request reads the database, unless an identical one is in flight.
const forgetful = await serve(0);
const control = await startCpuTimeServer();
const ready: ApiReady = { url: usual.url, coldUrl: forgetful.url, control: control.url };
sendToParent(ready);

// The parent holds our standard input open for as long as it wants us, and however it ends, it lets go of it.
process.stdin.on("end", async () => {
  await usual.close();
  await forgetful.close();
  for (const replica of replicas) await replica.close();
  await database.close();
  control.close();
});
process.stdin.resume();
