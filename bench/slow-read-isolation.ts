// `npx tsx bench/slow-read-isolation.ts [--rows N] [--seconds N]`: quick reads of many clients while one client sends slow ones.

import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { serveApi } from "../src/api/serve.ts";
import { createHttpServer } from "../src/http/server.ts";
import { tables } from "../src/protocol/domains.ts";
import { createRowIndexes, createRowTables } from "../src/store/index/row-tables.ts";
import type { Database } from "../src/store/postgres/database.ts";
import { NO_LIMITS } from "../tests/support/http/no-limits.ts";
import { benchLog, openBenchDatabase, startBenchServer } from "./harness/bench-database.ts";
import { formatColumns } from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "500000" }, seconds: { type: "string", default: "12" } },
});
const rows = Number(values.rows);
const seconds = Number(values.seconds);
// The default rate limit lets a client use its whole minute, 1,200 requests, at once.
const GREEDY_REQUESTS = 1_200;
const GREEDY_CONNECTIONS = 100;
const BYSTANDERS_PER_SECOND = 40;
const BLOCKS = 1_000;

async function fill(database: Database): Promise<void> {
  logProgress(`${rows} attestations`);
  await database.transaction(
    async (session) => {
      await createRowTables(session, tables);
      const bytes = (number: string, length: number) =>
        `decode(lpad(to_hex(${number}), ${2 * length}, '0'), 'hex')`;
      const block = `1 + i::bigint * ${BLOCKS - 1} / ${rows}`;
      await session.query(
        `insert into attestations (attestation_id, attester, schema_hash, subject, data_hash, timestamp, revoked, block_number, tx_hash, log_index, valid_from)
         select i, ${bytes("i % 1000", 20)}, ${bytes("i % 10", 32)}, ${bytes("i", 32)},
           ${bytes("i", 32)}, i, false, ${block}, ${bytes("i", 32)}, 0, ${block} from generate_series(1, ${rows}) i`,
      );
      await createRowIndexes(session, tables);
      await session.query(
        `insert into blocks select n, decode(lpad(to_hex(n), 64, '0'), 'hex'), 1800000000 + n, 1 from generate_series(1, ${BLOCKS}) n`,
      );
      await session.query(
        `insert into checkpoint select true, number, hash, timestamp, 1 from blocks where number = ${BLOCKS}`,
      );
      await session.query("insert into deployment values (true, 31337, 1, '{}')");
    },
    { statementTimeoutMs: 0 },
  );
  await database.query("analyze");
}

// Every request is another one, so that no cached response helps.
const GREEDY: Readonly<Record<string, (n: number) => string>> = {
  "offset in the far end": (n) => `/attestations?limit=100&offset=${Math.floor(rows * 0.8) + n}`,
  "offsets below 10,000": (n) => `/attestations?limit=100&offset=${10_000 - n}`,
  "a list at an early block": (n) => `/attestations?limit=100&block=${1 + (n % 10)}&offset=${n}`,
};

type Outcome = { readonly status: number; readonly ms: number };

// Agents of their own, so that the two wait for one another at the server only.
const greedyAgent = new Agent({ keepAlive: true, maxSockets: GREEDY_CONNECTIONS });
const bystanderAgent = new Agent({ keepAlive: true });

function send(url: string, agent: Agent): Promise<Outcome> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - startedMs }),
      );
    });
    request.on("error", reject);
  });
}

/** Requests at an even rate, whether or not the earlier ones have been responded to. */
async function load(url: string, pathOf: (n: number) => string): Promise<Outcome[]> {
  const pending: Promise<Outcome>[] = [];
  for (let n = 0; n < seconds * BYSTANDERS_PER_SECOND; n += 1) {
    pending.push(send(`${url}${pathOf(n)}`, bystanderAgent));
    await sleep(1_000 / BYSTANDERS_PER_SECOND);
  }
  return await Promise.all(pending);
}

/** A minute's requests, as many at once as the connections of one client allow. */
async function burst(url: string, pathOf: (n: number) => string): Promise<Outcome[]> {
  const untilMs = performance.now() + seconds * 1_000;
  const outcomes: Outcome[] = [];
  let sent = 0;
  const connection = async () => {
    while (sent < GREEDY_REQUESTS && performance.now() < untilMs) {
      sent += 1;
      outcomes.push(await send(`${url}${pathOf(sent)}`, greedyAgent));
    }
  };
  await Promise.all(Array.from({ length: GREEDY_CONNECTIONS }, connection));
  return outcomes;
}

function formatOutcomes(outcomes: readonly Outcome[]): string[] {
  const sorted = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  const ms = (value = 0) => `${value.toFixed(1)} ms`;
  const failed = outcomes.filter(({ status }) => status >= 500).length;
  return [
    `${outcomes.length}`,
    ms(sorted[Math.floor(sorted.length / 2)]),
    ms(sorted[Math.floor(sorted.length * 0.99)]),
    ms(sorted.at(-1)),
    `${failed}`,
  ];
}

const server = await startBenchServer("embedded");
const database = await openBenchDatabase({ connection: server.connection, schema: "sextant" });
let failures = 0;
try {
  await fill(database);
  const http = createHttpServer({
    ...NO_LIMITS,
    log: benchLog.child({}, { level: "silent" }),
    bodyBytesMax: 262_144,
    requestMsMax: 30_000,
    checkReadiness: async () => ({ ready: true }),
  });
  const api = serveApi(http, { database, log: benchLog });
  const url = await http.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  let read = 0;
  // Never the same record twice, so that every read reaches the database.
  const bystander = () => {
    read += 7_919;
    return `/attestations/${1 + (read % rows)}`;
  };
  const lines = [
    ["one client reads", "bystanders", "p50", "p99", "max", "failed", "of the client: 200 / 4xx / 5xx"],
  ];
  try {
    lines.push(["nothing", ...formatOutcomes(await load(url, bystander)), "-"]);
    for (const [what, greedyPath] of Object.entries(GREEDY)) {
      logProgress(what);
      const [bystanders, greedy] = await Promise.all([load(url, bystander), burst(url, greedyPath)]);
      failures += bystanders.filter(({ status }) => status !== 200).length;
      const of = (low: number) => greedy.filter(({ status }) => Math.floor(status / 100) === low).length;
      lines.push([what, ...formatOutcomes(bystanders), `${of(2)} / ${of(4)} / ${of(5)}`]);
    }
  } finally {
    greedyAgent.destroy();
    bystanderAgent.destroy();
    await http.close();
    await api.close();
  }
  process.stdout.write(formatColumns(lines));
} finally {
  await database.close();
  await server.stop();
}
if (failures > 0) {
  process.stderr.write(`${failures} reads of bystanders failed\n`);
  process.exitCode = 1;
}
