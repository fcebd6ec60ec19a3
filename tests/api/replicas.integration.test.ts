// Reads over replicas of a real cluster: which server responds, that no client is led back, and what a failure costs.
// In main, src/store/replicas/open-replicas.test.ts fails for the same broken rules, by model servers.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { buildChangeNotification } from "../../src/store/postgres/change-notifications.ts";
import { createDatabase, type Database } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/database/replicated-postgres.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { fillEmptyIndex, openTestConnection } from "../support/index/empty-index.ts";
import { silentLog } from "../support/quiet-log.ts";

const DELAY_MS = 1_500;
const ADDRESS = `0x${"ab".repeat(20)}`;
const HASH = `0x${"12".repeat(32)}`;
const AGENTS = `/agents?owner=${ADDRESS}`;

let cluster: ReplicatedPostgres;
let primary: Database;
let block = 7;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  cluster = await startReplicatedPostgres({ replicas: [{}, { applyDelayMs: DELAY_MS }] });
  primary = await openTestConnection({ url: new Secret(cluster.primary.url) });
  await migrate(primary, migrations, silentLog);
  await fillEmptyIndex(primary);
  await cluster.catchUp();
}, 60_000);
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(async () => {
  await primary?.close();
  await cluster?.stop();
});

/** The next block as the indexer writes it, with an agent whose id is its number. */
async function addBlock(): Promise<number> {
  block += 1;
  await primary.transaction(async (session) => {
    const hash = block.toString(16).padStart(64, "0");
    await session.query(
      `update checkpoint set block_number = ${block}, block_hash = decode('${hash}', 'hex')`,
    );
    await session.query(
      `insert into agents (agent_id, owner, metadata_uri, pubkey, capabilities_hash, revoked, block_number, tx_hash, log_index, valid_from)
       values (${block}, '\\x${ADDRESS.slice(2)}', '', '\\x${HASH.slice(2)}', '\\x${HASH.slice(2)}', false, ${block}, '\\x${HASH.slice(2)}', 0, ${block})`,
    );
    await session.query(buildChangeNotification(primary.schema));
  });
  return block;
}

/**
 * Adds a block whose commit waits for a standby that is nowhere, until the end of the test. The server learns of the
 * setting some time after it was loaded.
 */
async function addUnconfirmedBlock(): Promise<{ readonly added: Promise<number> }> {
  open.push(() => cluster.primary.configure("synchronous_standby_names", ""));
  await cluster.primary.configure("synchronous_standby_names", "elsewhere");
  for (;;) {
    let isAdded = false;
    const added = addBlock().finally(() => {
      isAdded = true;
    });
    while (!isAdded) {
      const waiting = await cluster.primary.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
      );
      if (waiting.length > 0) return { added };
      await pause(10);
    }
  }
}

/** `which` are numbers of replicas, of which 1 is delayed, or URLs of other servers. */
async function startApi(
  which: readonly (number | string)[],
  options: { lagMsMax?: number; cacheBytesMax?: number } = {},
) {
  const { lagMsMax = 60_000, cacheBytesMax = 0 } = options;
  const databases = which.map((at) => openReplica(typeof at === "string" ? at : replica(at).url));
  const api = await startTestApi(primary, { replicas: { databases, lagMsMax }, cacheBytesMax });
  open.push(async () => {
    await api.close();
    for (const database of databases) await database.close();
  });
  return api;
}

function openReplica(url: string): Database {
  const connection = { url: new Secret(url), connectMsMax: 500 };
  return createDatabase({
    connection,
    schema: "sextant",
    poolMax: 1,
    log: silentLog,
    applicationName: "test",
  });
}

async function read(api: TestApi, path: string, minBlock?: number, more: Record<string, string> = {}) {
  const headers = minBlock === undefined ? more : { "x-min-block": String(minBlock), ...more };
  const response = await fetch(api.url + path, { headers });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, block: Number(response.headers.get("x-indexed-block")) };
}

async function metric(api: TestApi, name: string, server: { url: string }): Promise<number> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  const line = text
    .split("\n")
    .find((each) => each.startsWith(`${name}{server="${new URL(server.url).host}"}`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const readsOf = (api: TestApi, server: { url: string }) => metric(api, "sextant_index_reads_total", server);

const replica = (at: number) => {
  const server = cluster.replicas[at];
  if (!server) throw new Error(`the cluster has no replica ${at}`);
  return server;
};

const waitForRotation = (api: TestApi, at: number, isIn: boolean) =>
  vi.waitFor(
    async () => expect(await metric(api, "sextant_replica_in_rotation", replica(at))).toBe(isIn ? 1 : 0),
    { timeout: 10_000, interval: 50 },
  );

describe("over replicas", () => {
  it("reads go to a replica, and say which block they are true at", async () => {
    const api = await startApi([0]);
    await waitForRotation(api, 0, true);
    const newest = await addBlock();
    for (let count = 0; count < 20; count += 1) await read(api, AGENTS);
    expect(await readsOf(api, replica(0))).toBeGreaterThan(10);
    const found = await read(api, `/agents/${newest}`, newest);
    expect(found).toMatchObject({ status: 200, block: newest, body: { agent_id: String(newest) } });
  });

  it("reads use the primary while no replica has the block yet", async () => {
    const api = await startApi([1]);
    await waitForRotation(api, 1, true);
    const newest = await addBlock();
    const startMs = performance.now();
    expect(await read(api, `/agents/${newest}`, newest)).toMatchObject({ status: 200, block: newest });
    expect(performance.now() - startMs).toBeLessThan(DELAY_MS);
    expect(await read(api, `/agents/${newest}?block=${newest}`)).toMatchObject({ status: 200 });
  });

  it("reads never go back in one process, with and without the cache", async () => {
    for (const cacheBytesMax of [0, 1_000_000]) {
      const api = await startApi([0, 1], { cacheBytesMax });
      await waitForRotation(api, 0, true);
      await waitForRotation(api, 1, true);
      const seen: number[] = [];
      for (let round = 0; round < 15; round += 1) {
        await addBlock();
        for (let count = 0; count < 5; count += 1) seen.push((await read(api, AGENTS)).block);
      }
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      const newest = block;
      await vi.waitFor(async () => expect((await read(api, AGENTS)).block).toBe(newest), {
        timeout: 5_000,
      });
    }
  });

  it("reads never go back while the primary waits for a standby that does not confirm a commit", async () => {
    const api = await startApi([0, 1]);
    await waitForRotation(api, 0, true);
    await waitForRotation(api, 1, true);
    const { added } = await addUnconfirmedBlock();
    await vi.waitFor(async () => expect((await read(api, AGENTS)).block).toBe(block), { timeout: 10_000 });
    const record = `/attestations/schemas/${HASH}`;
    // Only the primary has what clients write, and it does not show the block yet.
    expect(await read(api, record)).toMatchObject({ status: 404, block: block - 1 });
    const seen: number[] = [];
    for (let count = 0; count < 10; count += 1) seen.push((await read(api, AGENTS)).block);
    expect(seen).toEqual(seen.map(() => block));
    await cluster.primary.configure("synchronous_standby_names", "");
    await added;
    await vi.waitFor(async () => expect((await read(api, record)).block).toBe(block));
  });

  it("reads go on over replicas when the index was created again, whose revisions start again", async () => {
    const api = await startApi([0], { cacheBytesMax: 1_000_000 });
    await waitForRotation(api, 0, true);
    await addBlock();
    await vi.waitFor(async () => expect((await read(api, AGENTS)).block).toBe(block), { timeout: 10_000 });
    await primary.transaction(async (session) => {
      await session.query("delete from checkpoint");
      await session.query(
        `insert into checkpoint (block_number, block_hash, block_timestamp, finalized_block)
         values (3, '\\x03', 1700000000, 0)`,
      );
      await session.query(buildChangeNotification(primary.schema));
    });
    let offset = 0;
    await vi.waitFor(
      async () => {
        // In no cache.
        offset += 1;
        const before = await readsOf(api, replica(0));
        expect((await read(api, `${AGENTS}&offset=${offset}`)).block).toBe(3);
        expect(await readsOf(api, replica(0))).toBe(before + 1);
      },
      { timeout: 20_000, interval: 50 },
    );
    await addBlock();
    await vi.waitFor(async () => expect((await read(api, AGENTS)).block).toBe(block), { timeout: 10_000 });
    // The late one shows the old index until then, to processes of the next test as well.
    await cluster.catchUp();
  });

  it("reads of a block that no server has stay on the replicas, which say so", async () => {
    const api = await startApi([0]);
    await waitForRotation(api, 0, true);
    const before = await readsOf(api, cluster.primary);
    for (let count = 0; count < 10; count += 1) {
      expect(await read(api, `${AGENTS}&block=${block + 1_000}`)).toMatchObject({ status: 400, block });
    }
    expect(await readsOf(api, cluster.primary)).toBe(before);
  });

  it("a client finds its own writes at once, through any process", async () => {
    const [one, other] = [await startApi([1]), await startApi([1], { cacheBytesMax: 1_000_000 })];
    await waitForRotation(other, 1, true);
    const name = `schema-${block}`;
    await read(other, "/attestations/schemas");
    const body = JSON.stringify({ name, json_schema: { type: "object", title: name } });
    const headers = { "content-type": "application/json" };
    const written = await fetch(`${one.url}/attestations/schemas`, { method: "POST", headers, body });
    const { schema_hash } = (await written.json()) as { schema_hash: string };
    expect(await read(other, `/attestations/schemas/${schema_hash}`)).toMatchObject({ status: 200 });
    await vi.waitFor(
      async () => expect(JSON.stringify((await read(other, "/attestations/schemas")).body)).toContain(name),
      { timeout: DELAY_MS / 2, interval: 10 },
    );
    // A cached response may be from before the next write: a client that wrote asks for the newest.
    const readAgain = async (headers?: Record<string, string>) => {
      const before = await readsOf(other, cluster.primary);
      await read(other, `/attestations/schemas/${schema_hash}`, undefined, headers);
      return (await readsOf(other, cluster.primary)) - before;
    };
    await vi.waitFor(async () => expect(await readAgain()).toBe(0), { timeout: DELAY_MS, interval: 10 });
    expect(await readAgain({ "cache-control": "no-cache" })).toBe(1);
  });
});

describe("the rotation", () => {
  it("a replica that lags leaves the rotation, and comes back", async () => {
    const api = await startApi([1], { lagMsMax: 600 });
    await waitForRotation(api, 1, true);
    await addBlock();
    await waitForRotation(api, 1, false);
    expect(await metric(api, "sextant_replica_lag_seconds", replica(1))).toBeGreaterThan(0.6);
    expect((await read(api, AGENTS)).block).toBe(block);
    await waitForRotation(api, 1, true);
  });

  it("a replica that dies costs no request, and is used again when it is back", async () => {
    const api = await startApi([0]);
    await waitForRotation(api, 0, true);
    const statuses: number[] = [];
    const isOver = { value: false };
    const readers = Array.from({ length: 4 }, async () => {
      while (!isOver.value) {
        statuses.push((await read(api, AGENTS)).status);
        await pause(5);
      }
    });
    await pause(200);
    await replica(0).kill();
    await pause(500);
    isOver.value = true;
    await Promise.all(readers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await replica(0).restart();
    await waitForRotation(api, 0, true);
    const before = await readsOf(api, replica(0));
    await read(api, AGENTS);
    expect(await readsOf(api, replica(0))).toBe(before + 1);
  });

  it("a replica that cannot be reached at the start is left out", async () => {
    await replica(0).kill();
    const api = await startApi([0]);
    expect(await read(api, AGENTS)).toMatchObject({ status: 200, block });
    await replica(0).restart();
    await waitForRotation(api, 0, true);
  });

  it("a replica of another database or another cluster is never read, and the reason is shown", async () => {
    const other = await startReplicatedPostgres({ replicas: [{}], isUnrelated: true });
    open.push(() => other.stop());
    await cluster.primary.query("CREATE DATABASE other");
    const elsewhere = (url: string) => url.replace(/postgres$/, "other");
    for (const url of [elsewhere(cluster.primary.url), other.primary.url]) {
      const foreign = await openTestConnection({ url: new Secret(url) });
      await migrate(foreign, migrations, silentLog);
      await fillEmptyIndex(foreign);
      await foreign.query("update checkpoint set block_number = 1000000");
      await foreign.close();
    }
    await cluster.catchUp();
    await other.catchUp();
    for (const url of [elsewhere(replica(0).url), other.replicas[0]?.url ?? ""]) {
      const api = await startApi([url]);
      const problem = expect.stringContaining("not a copy of the primary");
      await vi.waitFor(
        () => expect(api.describeReplicas()).toMatchObject([{ in_rotation: false, problem }]),
        {
          timeout: 10_000,
        },
      );
      expect((await read(api, AGENTS)).block).toBe(block);
    }
  });
});
