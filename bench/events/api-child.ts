// The indexing API as a process of its own, with slots for all streams of the benchmark; reports its memory.

import { serveApi } from "../../src/api/serve.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { type ControlReady, serveSteps } from "./control.ts";

export type EventApiReady = ControlReady & { readonly url: string };
export type ApiMemory = { readonly rssBytes: number; readonly heapBytes: number };

const STREAMS_MAX = 20_000;

const place = JSON.parse(process.argv[2] ?? "") as BenchDatabaseTarget;
const database = await openBenchDatabase(place);
const server = createHttpServer({
  ...NO_LIMITS,
  log: benchLog,
  bodyBytesMax: 4_096,
  requestMsMax: 10_000,
  checkReadiness: async () => ({ ready: true }),
});
const eventStreams = { streamsMax: STREAMS_MAX, streamsPerClientMax: STREAMS_MAX };
const api = serveApi(server, { database, log: benchLog, eventStreams });
const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });

function readMemory(): ApiMemory {
  // The parent starts us with --expose-gc: what is garbage does not count.
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed + external };
}

await serveSteps({ memory: readMemory }, { url }, async () => {
  await server.close();
  await api.close();
  await database.close();
});
