// Ten deployments in one process stay within the connections that a stock PostgreSQL has.
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { createTestDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { startService } from "./installation-stage.ts";

const COUNT = 10;
// A pool for all, three readers and a listener each.
const CONNECTIONS_MAX = 10 + COUNT * 4;
// Quick, slow and of history, several at once.
const PATHS = ["/agents/1", "/intents?limit=1", "/analytics/commerce", "/events?limit=1", "/ready"];

it("ten deployments in one process share its connections", async () => {
  const place = await createTestDatabase();
  onTestFinished(() => place.drop());
  const files = await DeploymentFiles.create();
  onTestFinished(() => files.remove());
  const write = (_each: unknown, number: number) =>
    files.write({ ...MEMORY_DEPLOYMENT, network: `n${number}` });
  const [first = "", ...others] = await Promise.all(Array.from({ length: COUNT }, write));
  const url = formatConnectionUrl(place.connection);
  const environment = { DATABASE_URL: url, NETWORK: first, DEPLOYMENTS: others.join(","), API_PORT: "0" };
  const api = await startService(apiCommand, { environment, options: {} });
  try {
    const requests: Promise<Response>[] = [];
    for (let number = 0; number < COUNT; number += 1) {
      for (const path of [...PATHS, ...PATHS, ...PATHS])
        requests.push(fetch(`${api.url}/d/n${number}${path}`));
    }
    for (const request of requests) await (await request).arrayBuffer();
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query<{ count: string }>(
      "select count(*) from pg_stat_activity where datname = current_database() and application_name like 'sextant api%'",
    );
    await client.end();
    expect(Number(rows[0]?.count)).toBeGreaterThan(COUNT);
    expect(Number(rows[0]?.count)).toBeLessThanOrEqual(CONNECTIONS_MAX);
  } finally {
    await api.stop();
  }
});
