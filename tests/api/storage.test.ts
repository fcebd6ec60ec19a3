// Storage limits of writes: per client and day, in total, and without dropping unrelated cached responses.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeReads } from "../../src/api/write-service.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { WritableTable } from "../../src/schema/record-store.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let emptyIndex: EmptyIndex;
const open: TestApi[] = [];
// Processes count in the database: tests with the same limits share one.
const shared = new Map<string, Promise<TestApi>>();

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
});
afterAll(async () => {
  for (const api of open) await api.close();
  await emptyIndex?.drop();
});
beforeEach(async () => {
  await emptyIndex.database.query(
    "delete from documents; delete from client_writes; delete from intent_reservations; delete from attestation_schemas where not built_in",
  );
});

async function start(environment: Readonly<Record<string, string>>): Promise<TestApi> {
  const api = await startTestApi(emptyIndex.database, { trustedProxies: 1 }, environment);
  open.push(api);
  return api;
}

function use(environment: Readonly<Record<string, string>>): Promise<TestApi> {
  const key = JSON.stringify(environment);
  const api = shared.get(key) ?? start(environment);
  shared.set(key, api);
  return api;
}

const ONE = "192.0.2.1";
const OTHER = "192.0.2.2";

function post(api: TestApi, path: string, body: unknown, client = ONE): Promise<Response> {
  return fetch(`${api.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": client },
    body: JSON.stringify(body),
  });
}

const document = (n: number, bytes: number) => ({ catalog_json: `"${String(n).padEnd(bytes, "x")}"` });
const errorOf = async (response: Response) => ({
  status: response.status,
  code: response.headers.get("x-error-code"),
  error: ((await response.json()) as { error: string }).error,
});

describe("the limit of a client", () => {
  it("a client has a daily byte limit over all kinds of records, with Retry-After", async () => {
    const api = await use({ SEXTANT_CLIENT_BYTES_PER_DAY: "20000" });
    expect((await post(api, "/catalogs", document(1, 6_000))).status).toBe(201);
    const schema = { name: "mine", description: "x".repeat(4_000), json_schema: { type: "object" } };
    expect((await post(api, "/attestations/schemas", schema)).status).toBe(201);
    const reservation = { intent_hash: `0x${"77".repeat(32)}`, owner: `0x${"88".repeat(20)}` };
    expect((await post(api, "/intents/metadata", reservation)).status).toBe(201);
    const limited = await post(api, "/catalogs", document(2, 8_000));
    const seconds = Number(limited.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect(await errorOf(limited)).toEqual({
      status: 429,
      code: "RATE_LIMITED",
      error: "There is a limit of 20000 stored bytes per client and day (UTC).",
    });
    // The rest of the limit is usable, a stored text costs nothing, and another client has its own limit.
    expect((await post(api, "/catalogs", document(3, 1_000))).status).toBe(201);
    for (let times = 0; times < 5; times += 1) {
      expect((await post(api, "/catalogs", document(1, 6_000))).status).toBe(201);
    }
    expect((await post(api, "/catalogs", document(2, 8_000), OTHER)).status).toBe(201);
  });

  it("a client keeps its count across processes until the next day", async () => {
    const limit = { SEXTANT_CLIENT_BYTES_PER_DAY: "10000" };
    expect((await post(await use(limit), "/catalogs", document(1, 8_000))).status).toBe(201);
    const next = await start(limit);
    expect((await post(next, "/catalogs", document(2, 8_000))).status).toBe(429);
    await emptyIndex.database.query("update client_writes set day = day - 1");
    expect((await post(next, "/catalogs", document(2, 8_000))).status).toBe(201);
  });

  it("a client is not charged for a rejected write", async () => {
    const api = await use({ SEXTANT_CLIENT_BYTES_PER_DAY: "10000" });
    for (let n = 0; n < 5; n += 1) {
      const orphan = {
        quote_response_json: `"${"x".repeat(5_000)}${n}"`,
        request_hash: `0x${"12".repeat(32)}`,
      };
      expect((await post(api, "/quote-responses", orphan)).status).toBe(404);
    }
    expect((await post(api, "/catalogs", document(1, 8_000))).status).toBe(201);
  });
});

describe("the limit of the server", () => {
  it("all clients share a total limit; beyond it writes respond 503 and reads continue", async () => {
    const api = await use({ SEXTANT_STORED_BYTES_MAX: "30000" });
    const published = await post(api, "/catalogs", document(1, 10_000), "192.0.2.3");
    const { uri } = (await published.json()) as { uri: string };
    let full: Response = published;
    for (let n = 2; full.status === 201 && n < 10; n += 1) {
      full = await post(api, "/catalogs", document(n, 10_000), `192.0.2.${n + 10}`);
    }
    expect(await errorOf(full)).toEqual({
      status: 503,
      code: "STORAGE_FULL",
      error: "The storage of this server is full; nothing was stored. Everything can still be read.",
    });
    expect((await fetch(uri)).status).toBe(200);
    expect((await fetch(`${api.url}/merchants`)).status).toBe(200);
    // Publishing the same text again stores nothing.
    expect((await post(api, "/catalogs", document(1, 10_000))).status).toBe(201);
    const { rows } = await emptyIndex.database.query<{ bytes: string }>("select bytes from stored_total");
    expect(Number(rows[0]?.bytes)).toBeLessThanOrEqual(30_000);
  });
});

describe("writes that wait for one another", () => {
  it("writes that wait leave connections for the reads of documents", async () => {
    const api = await use({});
    const { uri } = (await (await post(api, "/catalogs", document(1, 100))).json()) as { uri: string };
    const locking = await emptyIndex.database.connect("locking");
    await locking.query("begin; select bytes from stored_total for update");
    const writes = Array.from({ length: 20 }, (_, n) =>
      post(api, "/catalogs", document(n + 2, 100), `192.0.2.${n}`),
    );
    try {
      const waiting = async () => {
        const { rows } = await emptyIndex.database.query<{ count: string }>(
          "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return Number(rows[0]?.count);
      };
      await expect.poll(waiting).toBe(2);
      for (let times = 0; times < 10; times += 1) expect((await fetch(uri)).status).toBe(200);
    } finally {
      await locking.query("rollback");
      await locking.end();
    }
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array.from(writes, () => 201));
  });
});

describe("cached responses", () => {
  it("reads declare every writable table that their statement reads", () => {
    // metadata_of_intent is a database function that reads two of them.
    const NAMED: readonly (readonly [WritableTable, RegExp])[] = [
      ["attestation_schemas", /attestation_schemas/],
      ["documents", /\bdocuments\b/],
      ["intent_metadata", /intent_metadata|metadata_of_intent/],
      ["intent_reservations", /intent_reservations|metadata_of_intent/],
      ["offchain_bids", /offchain_bids/],
    ];
    const hash = `0x${"12".repeat(32)}`;
    const values = { hash, intentHash: hash };
    const found = [...indexReads, ...writeReads].flatMap((read) => {
      const { text } = read.plan({ values, asOf: null, provenance: false }).sql;
      const named = NAMED.filter(([, pattern]) => pattern.test(text)).map(([table]) => table);
      expect([read.path, [...(read.writableTables ?? [])].sort()]).toEqual([read.path, named]);
      return named;
    });
    expect(new Set(found).size).toBe(NAMED.length);
  });

  /** Whether a path still responds while its table is unreadable. */
  async function isCached(api: TestApi, path: string, table: string): Promise<boolean> {
    const locking = await emptyIndex.database.connect("locking");
    try {
      await locking.query(`begin; lock table ${table} in access exclusive mode`);
      return await fetch(`${api.url}${path}`, { signal: AbortSignal.timeout(500) }).then(
        ({ ok }) => ok,
        () => false,
      );
    } finally {
      await locking.query("rollback");
      await locking.end();
    }
  }

  it("a published document drops no cached response; other writes drop only responses that depend on them", async () => {
    const api = await use({});
    const other = await start({});
    const schemas = async (from: TestApi) =>
      ((await (await fetch(`${from.url}/attestations/schemas`)).json()) as { schemas: unknown[] }).schemas
        .length;
    for (const each of [api, other]) {
      await expect
        .poll(async () => {
          await fetch(`${each.url}/merchants`);
          return isCached(each, "/merchants", "merchants");
        })
        .toBe(true);
      expect(await schemas(each)).toBe(4);
      expect(await isCached(each, "/attestations/schemas", "attestation_schemas")).toBe(true);
    }
    expect((await post(api, "/catalogs", document(1, 100))).status).toBe(201);
    const request = { quote_request_json: "1" };
    expect((await post(api, "/quote-requests", request)).status).toBe(201);
    for (const each of [api, other]) {
      expect(await isCached(each, "/attestations/schemas", "attestation_schemas")).toBe(true);
    }
    const schema = { name: "new", json_schema: { type: "string" } };
    expect((await post(api, "/attestations/schemas", schema)).status).toBe(201);
    // Immediately in this process, a moment later in others.
    expect(await schemas(api)).toBe(5);
    await expect.poll(() => schemas(other)).toBe(5);
    const reservation = { intent_hash: `0x${"66".repeat(32)}`, owner: `0x${"88".repeat(20)}` };
    expect((await post(api, "/intents/metadata", reservation)).status).toBe(201);
    for (const each of [api, other]) expect(await isCached(each, "/merchants", "merchants")).toBe(true);
  });
});
