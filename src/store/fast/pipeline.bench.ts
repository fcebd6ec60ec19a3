// A batch of thirty steps in one pipeline and step by step: `npx vitest bench --run src/store/fast/pipeline.bench`.
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, bench, describe, inject } from "vitest";
import {
  openMicrobenchDatabase,
  SERVER_BENCH_OPTIONS,
} from "../../../tests/support/database/bench-database.ts";
import { openDelayedConnection } from "../../../tests/support/database/delayed-connection.ts";
import { commitPipeline } from "../postgres/session.ts";
import { encodeCopyLines } from "./copy-encoder.ts";
import { type PipelineStep, runPipeline } from "./pipeline.ts";

const TABLES = 15;
const ROWS = 130;
const ROUND_TRIP_MS = 5;
const limits = { target: { server: "", database: "", user: "" }, statementTimeoutMs: 60_000 };

const database = await openMicrobenchDatabase();
for (let n = 0; n < TABLES; n += 1)
  await database.query(`CREATE UNLOGGED TABLE batch_${n} (n integer, note text)`);
const messages = encodeCopyLines(Array.from({ length: ROWS }, (_, n) => `${n}\t${"x".repeat(200)}\n`));
const steps: PipelineStep[] = Array.from({ length: TABLES }, (_, n) => [
  { text: `DELETE FROM batch_${n} WHERE n < $1`, values: [ROWS] },
  { copy: `COPY batch_${n} FROM STDIN`, messages },
]).flat();

const near = await database.connect("bench");
const far = await connectWithDelay();
afterAll(() => near.end());

/** Through a TCP relay that adds the round trip of another data centre. */
async function connectWithDelay(): Promise<Client> {
  const server = inject("postgres");
  const relay = createServer((socket) => connectSockets(socket, dial()));
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const delayed = await openDelayedConnection((relay.address() as AddressInfo).port, ROUND_TRIP_MS);
  const { database: name, user } = database.target;
  const client = new Client({ host: "127.0.0.1", port: delayed.port, user, database: name, ssl: false });
  await client.connect();
  await client.query(`SET search_path TO "${database.schema}"`);
  afterAll(async () => {
    await client.end();
    await delayed.close();
    relay.close();
  });
  return client;

  function dial(): Socket {
    if (server.kind === "embedded") return createConnection(join(server.host, ".s.PGSQL.5432"));
    const { hostname, port } = new URL(server.url);
    return createConnection(Number(port || 5432), hostname);
  }
}

function connectSockets(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
}

async function stepByStep(client: Client): Promise<void> {
  await client.query("BEGIN");
  for (const step of steps) await runPipeline(client, [step], 60_000);
  await client.query("COMMIT");
}

for (const [name, client] of Object.entries({
  "local socket": near,
  [`${ROUND_TRIP_MS} ms round trip`]: far,
})) {
  describe(`a batch of ${steps.length} steps, ${name}`, () => {
    bench("one pipeline", () => commitPipeline(client, steps, limits), SERVER_BENCH_OPTIONS);
    bench("step by step", () => stepByStep(client), SERVER_BENCH_OPTIONS);
  });
}
