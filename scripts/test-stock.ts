// `npm run test:stock`: the tests that use PostgreSQL, against Debian's server with its default settings.
import { openDelayedConnection } from "../tests/support/database/delayed-connection.ts";
import {
  findStockPostgres,
  type StockPostgres,
  startStockPostgres,
  WITHOUT_STOCK_POSTGRES,
} from "../tests/support/database/stock-postgres.ts";
import type { RunSummary } from "./testing/run-report.ts";
import { runVitest } from "./testing/run-vitest.ts";

// Everything that uses the database, encrypted as it would be over a network.
const OVER_TLS = ["src/store", "src/payments", "tests/api", "tests/indexer"];
// Tests with many or large statements run again with the latency to another data centre added to each round trip.
const AT_A_DISTANCE = [
  "src/store/fast/pipelined-reader.test.ts",
  "src/store/index/store.test.ts",
  "tests/api/reads.test.ts",
];
const ROUND_TRIP_MS = 5;
// They kill servers, and therefore start their own.
const WITH_THEIR_OWN_SERVERS = [
  "tests/api/events/stream-equals-model.chaos.test.ts",
  "tests/api/hung-primary.chaos.test.ts",
  "tests/api/replicas.chaos.test.ts",
  "tests/api/replicas.test.ts",
  "tests/indexer/fail-over.chaos.test.ts",
  "tests/indexer/installation-replicas.test.ts",
  "src/store/postgres/server-list.test.ts",
  "src/payments/ledger/replication.test.ts",
];

const bin = findStockPostgres();
if (bin === null) {
  process.stdout.write(WITHOUT_STOCK_POSTGRES);
} else {
  const server = await startStockPostgres(bin);
  try {
    const counts =
      process.argv.length > 2 ? [await overTls(server, process.argv.slice(2))] : await all(server);
    const sum = (of: "passed" | "failed") => counts.reduce((total, count) => total + count[of], 0);
    process.stdout.write(`\nPostgreSQL ${server.version}, stock settings\n`);
    process.stdout.write(`stock: ${sum("passed")} passed, ${sum("failed")} failed\n`);
    process.exitCode = sum("failed") === 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
}

async function all(server: StockPostgres): Promise<RunSummary[]> {
  return [await overTls(server, OVER_TLS), await atADistance(server, AT_A_DISTANCE)];
}

function overTls(server: StockPostgres, paths: readonly string[]): Promise<RunSummary> {
  return runAgainst(server.url({ tls: true }), paths);
}

async function atADistance(server: StockPostgres, paths: readonly string[]): Promise<RunSummary> {
  const relay = await openDelayedConnection(server.port, ROUND_TRIP_MS);
  try {
    const url = new URL(server.url({ tls: true }));
    url.port = String(relay.port);
    return await runAgainst(url.href, paths);
  } finally {
    await relay.close();
  }
}

function runAgainst(url: string, paths: readonly string[]): Promise<RunSummary> {
  const args = [...paths, ...WITH_THEIR_OWN_SERVERS.map((path) => `--exclude=${path}`)];
  return runVitest({ suites: ["main", "chaos"], args, environment: { TEST_DATABASE_URL: url } });
}
