// Ten deployments in one process stay within the connections that a stock PostgreSQL has.
// No test of main counts the connections; src/store/postgres/pool.test.ts covers the sessions that schemas share.
import { Client } from "pg";
import { expect, it, onTestFinished, vi } from "vitest";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createTestDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { startService } from "./installation-stage.ts";

const COUNT = 10;
// A pool for all; three readers, a listener and the lock of expiry each.
const CONNECTIONS_MAX = 10 + COUNT * 5;
// Quick, slow and of history, several at once.
const PATHS = ["/agents/1", "/intents?offset=5000", "/analytics/commerce", "/events?limit=1", "/ready"];
const SCHEMAS = Array.from({ length: COUNT }, (_, number) =>
  number === 0 ? "sextant" : `sextant_n${number}`,
);

// How often expiry runs, in all deployments of a process at the same time.
const EXPIRY_EVERY_MS = 600_000;

/** A block without events, and an indexer that reports: otherwise events are not read, and nothing expires. */
const pretendIndexed = (schema: string) => `
  insert into ${schema}.deployment (chain_id, start_block, contracts) values (1, 1, '{}');
  insert into ${schema}.checkpoint (block_number, block_hash, block_timestamp, finalized_block, safe_block)
    values (1, '\\x01', 1, 1, 1);
  insert into ${schema}.indexer_status (status, reported_at) values ('{"phase":"live"}', now())`;

/** Lets the first pass of every deployment begin when the test wants it. */
function holdExpiry(): () => void {
  let begin: () => void = () => undefined;
  const due = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { sleep } = systemClock;
  const held = new Set<AbortSignal | undefined>();
  const spy = vi.spyOn(systemClock, "sleep").mockImplementation((ms, signal) => {
    if (ms !== EXPIRY_EVERY_MS || held.has(signal)) return sleep(ms, signal);
    held.add(signal);
    return Promise.race([due, sleep(ms, signal)]);
  });
  onTestFinished(() => spy.mockRestore());
  return begin;
}

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
  const beginExpiry = holdExpiry();
  const api = await startService(apiCommand, { environment, options: {} });
  // One that watches, and one with a transaction: within it the list of sessions would stay as it is.
  const [client, writer] = [new Client(url), new Client(url)];
  await client.connect();
  await writer.connect();
  const countConnections = async (name: string) => {
    const text = `select count(*) from pg_stat_activity
      where datname = current_database() and application_name like $1`;
    return Number((await client.query<{ count: string }>(text, [name])).rows[0]?.count);
  };
  try {
    for (const schema of SCHEMAS) await writer.query(pretendIndexed(schema));
    const requests: Promise<Response>[] = [];
    for (let number = 0; number < COUNT; number += 1) {
      for (const path of [...PATHS, ...PATHS, ...PATHS])
        requests.push(fetch(`${api.url}/d/n${number}${path}`));
    }
    for (const request of requests) await (await request).arrayBuffer();
    // Expiry waits for this table with its lock in hand.
    await writer.query("begin");
    for (const schema of SCHEMAS)
      await writer.query(`lock table ${schema}.documents in access exclusive mode`);
    beginExpiry();
    await expect.poll(() => countConnections("sextant api lock"), { timeout: 25_000 }).toBe(COUNT);
    const count = await countConnections("sextant api%");
    // All but those of the pool, which may be idle, are open now.
    expect(count).toBeGreaterThanOrEqual(COUNT * 5);
    expect(count).toBeLessThanOrEqual(CONNECTIONS_MAX);
  } finally {
    await writer.end();
    await client.end();
    await api.stop();
  }
});
