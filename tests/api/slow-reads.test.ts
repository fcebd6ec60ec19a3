// Slow reads have separate connections: no quick read waits behind them, however many a client requests.
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let emptyIndex: EmptyIndex;
let api: TestApi;
let locking: Client;

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
  api = await startTestApi(emptyIndex.database, { requestMsMax: 20_000, trustedProxies: 1 });
  locking = await emptyIndex.database.connect("locking");
});

afterAll(async () => {
  await locking?.end();
  await api?.close();
  await emptyIndex?.drop();
});

const GREEDY = "192.0.2.1";
const OTHER = "192.0.2.2";

async function get(path: string, client: string): Promise<{ status: number; error: string }> {
  const response = await fetch(`${api.url}${path}`, { headers: { "x-forwarded-for": client } });
  const body = (await response.json()) as { error?: string };
  return { status: response.status, error: body.error ?? "" };
}

/** While `work` runs, every statement that touches the table hangs as one that reads it from end to end would. */
async function whileHanging(table: string, work: () => Promise<void>): Promise<void> {
  await locking.query(`begin; lock table ${table} in access exclusive mode`);
  try {
    await work();
  } finally {
    await locking.query("rollback");
  }
}

// Requests with a slow plan, each different.
const SLOW: Readonly<Record<string, (n: number) => string>> = {
  "offsets that skip thousands of rows": (n) => `/attestations?offset=${9_000 + n}`,
  "lists at an earlier block": (n) => `/attestations?block=${n % 7}&offset=${n}`,
};

describe("one client's slow reads", () => {
  it.each(Object.entries(SLOW))(
    "slow reads of one client do not delay quick reads of others: %s",
    async (_what, slowPath) => {
      const greedy: Promise<{ status: number }>[] = [];
      await whileHanging("attestations", async () => {
        for (let n = 0; n < 100; n += 1) greedy.push(get(slowPath(n), GREEDY));
        // The first run in the database; the others wait or are rejected.
        await expect.poll(hanging).toBeGreaterThan(0);
        const quick = await Promise.all(
          Array.from({ length: 60 }, (_, n) => get(`/merchants?limit=10&offset=${n}`, OTHER)),
        );
        expect(quick.filter(({ status }) => status !== 200)).toEqual([]);
        // The slow reads are still running.
        expect(await hanging()).toBeGreaterThan(0);
      });
      const statuses = (await Promise.all(greedy)).map(({ status }) => status);
      // Beyond a few they are rejected with Retry-After.
      expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(80);
    },
  );

  it("slow reads of one client leave room for those of another", async () => {
    const greedy: Promise<unknown>[] = [];
    await whileHanging("attestations", async () => {
      for (let n = 0; n < 100; n += 1) greedy.push(get(`/attestations?offset=${2_000 + n}`, GREEDY));
      await expect.poll(hanging).toBe(1);
      expect(await get("/merchants?offset=2000", OTHER)).toMatchObject({ status: 200 });
      expect(await hanging()).toBe(1);
    });
    await Promise.all(greedy);
  });

  it("times out a slow read after two seconds", async () => {
    await whileHanging("attestations", async () => {
      const startedMs = performance.now();
      expect(await get("/attestations?offset=3000", GREEDY)).toMatchObject({ status: 503 });
      expect(performance.now() - startedMs).toBeGreaterThan(1_900);
    });
  });
});

describe("a statement that is declared quick and hangs", () => {
  it("retries a quick statement that hangs on the slow connections", async () => {
    let pending: Promise<{ status: number }> | undefined;
    await whileHanging("attestors", async () => {
      pending = get("/attestors?limit=7", OTHER);
      await expect.poll(() => hanging("slow reader"), { timeout: 5_000 }).toBe(1);
    });
    expect(await pending).toMatchObject({ status: 200 });
  });
});

/** How many statements of the API wait for a lock. */
async function hanging(purpose = ""): Promise<number> {
  const { rows } = await emptyIndex.database.query<{ count: string }>({
    text: "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name like $1",
    values: [`%${purpose}`],
  });
  return Number(rows[0]?.count);
}
