// A primary that hangs with open connections: responses stay true, requests end in time, and the next one is noticed.
// A fast test of the same rules is src/store/replicas/open-replicas.test.ts.
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { buildChangeNotification } from "../../src/store/postgres/change-notifications.ts";
import { createDatabase, type Database } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { startReplicatedPostgres } from "../support/database/replicated-postgres.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { fillEmptyIndex, openTestConnection } from "../support/index/empty-index.ts";
import { silentLog } from "../support/quiet-log.ts";

const HOT = "/merchants";
const COLD = "/solvers";
const CACHE = { cacheBytesMax: 1_000_000 };
// A quick read waits a second and five more for a server that does not respond; a wait for a block as long.
const RESPONSE_MS_MAX = 15_000;
// A listening connection is tried every five seconds and given up after six more; then the other servers are tried.
const NOTICE_MS_MAX = 45_000;
const MINUTE = 60_000;

async function open(url: string): Promise<Database> {
  const database = await openTestConnection({ url: new Secret(url) });
  onTestFinished(() => database.close());
  return database;
}

async function addBlock(database: Database, block: number): Promise<number> {
  await database.transaction(async (session) => {
    const hash = block.toString(16).padStart(64, "0");
    await session.query(
      `update checkpoint set block_number = ${block}, block_hash = decode('${hash}', 'hex')`,
    );
    await session.query(buildChangeNotification(database.schema));
  });
  return block;
}

async function read(api: TestApi, path: string, minBlock?: number) {
  const headers = minBlock === undefined ? {} : { "x-min-block": String(minBlock) };
  const startMs = performance.now();
  const response = await fetch(api.url + path, { headers });
  await response.text();
  expect(performance.now() - startMs, path).toBeLessThan(RESPONSE_MS_MAX);
  return [response.status, Number(response.headers.get("x-indexed-block"))];
}

const waitForBlock = (api: TestApi, path: string, block: number) =>
  vi.waitFor(async () => expect(await read(api, path)).toEqual([200, block]), {
    timeout: NOTICE_MS_MAX,
    interval: 200,
  });

/** Until so many processes are notified of changes: only then they keep responses. */
const waitForListeners = (database: Database, count: number) =>
  vi.waitFor(
    async () => {
      const text = "select pid from pg_stat_activity where query like 'listen %' and state = 'idle'";
      expect((await database.query(text)).rows).toHaveLength(count);
    },
    { timeout: NOTICE_MS_MAX, interval: 50 },
  );

it(
  "a primary that hangs leads no client astray, and its successor is found",
  async () => {
    const cluster = await startReplicatedPostgres({ replicas: [{}, {}] });
    onTestFinished(() => cluster.stop());
    const [successor] = cluster.replicas;
    if (!successor) throw new Error("the cluster has replicas");
    const primary = await open(cluster.primary.url);
    await migrate(primary, migrations, silentLog);
    await fillEmptyIndex(primary);
    const last = await addBlock(primary, 8);
    await cluster.catchUp();
    const databases = cluster.replicas.map(({ url }) =>
      createDatabase({
        connection: { url: new Secret(url), connectMsMax: 500 },
        ...{ schema: "sextant", poolMax: 1, log: silentLog, applicationName: "test" },
      }),
    );
    const replicas = { databases, lagMsMax: 60_000 };
    const spread = await startTestApi(await open(cluster.url), { replicas, ...CACHE });
    onTestFinished(() => spread.close());
    const single = await startTestApi(await open(cluster.url), CACHE);
    onTestFinished(() => single.close());
    await waitForListeners(primary, 2);
    for (const api of [spread, single, spread, single]) {
      expect(await read(api, HOT)).toEqual([200, last]);
      // The response that was read while the connection was being opened is not kept; the second one is.
      await pause(300);
    }

    cluster.primary.freeze();
    onTestFinished(async () => {
      if (cluster.primary.isRunning) await cluster.primary.kill();
    });
    // Replicas and caches have what they had; without either a read fails.
    for (const api of [single, spread]) expect(await read(api, HOT)).toEqual([200, last]);
    expect(await read(spread, COLD)).toEqual([200, last]);
    const [spreadMissing, singleMissing, singleCold] = await Promise.all([
      read(spread, HOT, last + 1),
      read(single, HOT, last + 1),
      read(single, COLD),
    ]);
    expect([spreadMissing[0], singleMissing[0], singleCold[0]]).toEqual([503, 503, 503]);

    await cluster.failOverTo(successor);
    const next = await addBlock(await open(successor.url), last + 1);
    // Only what was cached: no other read shows the process that there is a newer state.
    await Promise.all([waitForBlock(spread, HOT, next), waitForBlock(single, HOT, next)]);
    for (const api of [spread, single]) {
      await waitForBlock(api, COLD, next);
      expect(await read(api, HOT, next)).toEqual([200, next]);
    }
  },
  3 * MINUTE,
);
