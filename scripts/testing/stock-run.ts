// Runs the tests that can differ on a stock PostgreSQL: over TLS, and some of them at the distance of a data centre.
import { openDelayedConnection } from "../../tests/support/database/delayed-connection.ts";
import {
  findStockPostgres,
  type StockPostgres,
  startStockPostgres,
} from "../../tests/support/database/stock-postgres.ts";
import { joinOutcomes, runVitest, type TestOutcome } from "./run-vitest.ts";
import { AT_A_DISTANCE, ON_A_STOCK_SERVER } from "./stock-files.ts";

const ROUND_TRIP_MS = 5;

/** `args` replace the files that are chosen for it. */
export async function runStockTests(args: readonly string[]): Promise<TestOutcome> {
  const bin = findStockPostgres();
  if (bin === null) throw new Error("no stock PostgreSQL is installed");
  const server = await startStockPostgres(bin);
  try {
    process.stdout.write(`PostgreSQL ${server.version}, stock settings\n`);
    if (args.length > 0) return await runOn(server.url({ tls: true }), args);
    const near = await runOn(server.url({ tls: true }), Object.keys(ON_A_STOCK_SERVER));
    const far = await runAtADistance(server);
    return joinOutcomes([near, far]);
  } finally {
    await server.stop();
  }
}

async function runAtADistance(server: StockPostgres): Promise<TestOutcome> {
  const relay = await openDelayedConnection(server.port, ROUND_TRIP_MS);
  try {
    const url = new URL(server.url({ tls: true }));
    url.port = String(relay.port);
    return await runOn(url.href, Object.keys(AT_A_DISTANCE));
  } finally {
    await relay.close();
  }
}

function runOn(url: string, args: readonly string[]): Promise<TestOutcome> {
  const environment = { TEST_DATABASE_URL: url };
  return runVitest({ projects: ["main", "integration", "chaos", "stock"], args, environment });
}
