// What `npm run test:stock` runs: the tests that talk to PostgreSQL, against Debian's server with its defaults.
import { openDelayedConnection } from "../tests/support/database/delayed-connection.ts";
import {
  findStockPostgres,
  type StockPostgres,
  startStockPostgres,
  WITHOUT_STOCK_POSTGRES,
} from "../tests/support/database/stock-postgres.ts";
import { runVitest, type TestCount } from "./testing/run-vitest.ts";

// Everything that speaks to the database, encrypted as it would be over a network.
const OVER_TLS = ["src/store", "src/payments", "tests/api", "tests/indexing"];
// What sends much or reads often, once more with the time to another data centre added to each round trip.
const AT_A_DISTANCE = [
  "src/store/fast/pipelined-reader.test.ts",
  "src/store/index/store.test.ts",
  "tests/api/reads.test.ts",
];
const ROUND_TRIP_MS = 5;

const bin = findStockPostgres();
if (bin === null) {
  process.stdout.write(WITHOUT_STOCK_POSTGRES);
} else {
  const server = await startStockPostgres(bin);
  try {
    const counts =
      process.argv.length > 2 ? [await overTls(server, process.argv.slice(2))] : await all(server);
    const sum = (of: keyof TestCount) => counts.reduce((total, count) => total + count[of], 0);
    process.stdout.write(`\nPostgreSQL ${server.version}, stock settings\n`);
    process.stdout.write(`stock: ${sum("passed")} passed, ${sum("failed")} failed\n`);
    process.exitCode = sum("failed") === 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
}

async function all(server: StockPostgres): Promise<TestCount[]> {
  return [await overTls(server, OVER_TLS), await atADistance(server, AT_A_DISTANCE)];
}

function overTls(server: StockPostgres, paths: readonly string[]): Promise<TestCount> {
  return runVitest(paths, { TEST_DATABASE_URL: server.url({ tls: true }) });
}

async function atADistance(server: StockPostgres, paths: readonly string[]): Promise<TestCount> {
  const relay = await openDelayedConnection(server.port, ROUND_TRIP_MS);
  try {
    const url = new URL(server.url({ tls: true }));
    url.port = String(relay.port);
    return await runVitest(paths, { TEST_DATABASE_URL: url.href });
  } finally {
    await relay.close();
  }
}
