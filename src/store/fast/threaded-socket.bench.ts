// Bulk writes by a busy process, with the socket in a thread and without: `npx vitest bench --run src/store/fast`.
import { Client, type ClientConfig } from "pg";
import { afterAll, bench, describe } from "vitest";
import { findStockPostgres, startStockPostgres } from "../../../tests/support/database/stock-postgres.ts";
import { createTestDatabase } from "../../../tests/support/database/test-database.ts";
import { createClientConfig } from "../postgres/connection.ts";
import { encodeCopyLines } from "./copy-encoder.ts";
import { runPipeline } from "./pipeline.ts";
import { createThreadedClient } from "./threaded-socket.ts";

// As a backfill works: while a batch is written, the next one is decoded and folded.
const BATCHES = 12;
const BATCH_LINES = 30_000;
const FOLD_MS = 120;
const OPTIONS = { iterations: 4, time: 0, warmupIterations: 1, warmupTime: 0 };
const messages = encodeCopyLines(
  Array.from({ length: BATCH_LINES }, (_, n) => `${n}\t${"0123456789abcdef".repeat(8)}\n`),
);

const embedded = await createTestDatabase();
const stockFolder = findStockPostgres();
const stock = stockFolder === null ? null : await startStockPostgres(stockFolder);
const clients: Client[] = [];

afterAll(async () => {
  for (const client of clients) await client.end();
  await embedded.drop();
  await stock?.stop();
});

const servers: Readonly<Record<string, ClientConfig>> = {
  "embedded server, Unix socket": createClientConfig(embedded.connection, "bench"),
  ...(stock
    ? {
        "stock server, TCP": { connectionString: stock.url({ tls: false }) },
        "stock server, TLS": { connectionString: stock.url({ tls: true }) },
      }
    : {}),
};

/** In slices, as the indexer works: the event loop runs in between. */
async function fold(): Promise<void> {
  for (let ms = 0; ms < FOLD_MS; ms += 20) {
    const untilMs = performance.now() + 20;
    while (performance.now() < untilMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function connect(client: Client): Promise<Client> {
  clients.push(client);
  await client.connect();
  await client.query("CREATE UNLOGGED TABLE IF NOT EXISTS written (n integer, note text)");
  return client;
}

async function writeAll(client: Client): Promise<void> {
  await client.query("TRUNCATE written");
  let writing = Promise.resolve();
  for (let batch = 0; batch < BATCHES; batch += 1) {
    await fold();
    await writing;
    writing = runPipeline(client, [{ copy: "COPY written FROM STDIN", messages }], 60_000);
  }
  await writing;
}

for (const [name, config] of Object.entries(servers)) {
  const threaded = await connect(createThreadedClient(config));
  const plain = await connect(new Client(config));
  describe(name, () => {
    bench("threaded", () => writeAll(threaded), OPTIONS);
    bench("plain", () => writeAll(plain), OPTIONS);
  });
}
