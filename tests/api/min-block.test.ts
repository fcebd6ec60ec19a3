// x-min-block and min_block: a read waits for the block, responds from it, or says which one there is.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { writeReads } from "../../src/api/write-service.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import { buildChangeNotification } from "../../src/store/postgres/change-notifications.ts";
import { type ApiClient, openApiClient } from "../support/http/api-client.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

const REQUEST_BEGUN = "http.server.request.start";
const HASTY_MS = 20;
const ADDRESS = `0x${"ab".repeat(20)}`;
const PREFLIGHT = { account: ADDRESS, target: ADDRESS, value: "0", data: "0x" };

const HASH = `0x${"12".repeat(32)}`;

let index: EmptyIndex;
/** Waits long enough for a slow machine. */
let patient: TestApi;
/** Gives up at once, and lets a client wait five times. */
let hasty: TestApi;
let client: ApiClient;
let hastyClient: ApiClient;

/** Moves the head as the indexer does: checkpoint and notification in one transaction. */
async function moveTo(block: number, { fork = 0, announced = true } = {}): Promise<void> {
  await index.database.transaction(async (session) => {
    await session.query({
      text: "update checkpoint set block_number = $1, block_hash = decode($2, 'hex')",
      values: [block, block.toString(16).padStart(62, "0") + fork.toString(16).padStart(2, "0")],
    });
    await session.query(
      "insert into agents (agent_id, owner, metadata_uri, pubkey, capabilities_hash, revoked, block_number, tx_hash, log_index, valid_from)" +
        ` select ${block}, '\\x${ADDRESS.slice(2)}', '', '\\x${HASH.slice(2)}', '\\x${HASH.slice(2)}', false, ${block}, '\\x${HASH.slice(2)}', 0, ${block} where not exists (select from agents where agent_id = ${block})`,
    );
    if (announced) await session.query(buildChangeNotification(index.database.schema));
  });
}

beforeAll(async () => {
  index = await openEmptyIndex();
  const limits = { waitersPerClientMax: 5, pollMs: 50 };
  patient = await startTestApi(index.database, { blockWaits: { ...limits, waitMsMax: 8_000 } });
  hasty = await startTestApi(index.database, { blockWaits: { ...limits, waitMsMax: HASTY_MS } });
  client = await openApiClient(patient.url);
  hastyClient = await openApiClient(hasty.url);
});
afterAll(async () => {
  await patient?.close();
  await hasty?.close();
  await index?.drop();
});
beforeEach(async () => {
  await index.database.query("delete from agents");
  await moveTo(7);
  // Responses that an earlier test left in the cache are gone once the notification is there.
  for (const api of [client, hastyClient]) {
    await vi.waitFor(async () => expect(indexedBlockOf(await api.call("/analytics/commerce"))).toBe("7"));
  }
});

const withHeader = (minBlock?: string) =>
  minBlock === undefined ? {} : { headers: { "x-min-block": minBlock } };
const get = (path: string, minBlock?: string) => client.call(path, withHeader(minBlock));
const getHastily = (path: string, minBlock?: string) => hastyClient.call(path, withHeader(minBlock));

/** It has little patience, and on a busy machine has not seen a new block by then. */
const waitForHastyApi = (block: string) =>
  expect.poll(async () => indexedBlockOf(await getHastily("/agents/7"))).toBe(block);

const indexedBlockOf = ({ headers }: { headers: Headers }) => headers.get("x-indexed-block");

describe("a read with x-min-block", () => {
  it.each([
    ["the header", "/agents/8", "8"],
    ["the key", "/agents/8?min_block=8", undefined],
    ["the header, larger than the key", "/agents/8?min_block=3", "8"],
    ["the key, larger than the header", "/agents/8?min_block=8", "3"],
  ])("waits for the block of %s, and finds what is in it", async (_way, path, header) => {
    expect((await get("/agents/8")).status).toBe(404);
    const waiting = get(path, header);
    await pause(30);
    await moveTo(8);
    const response = await waiting;
    expect([response.status, indexedBlockOf(response)]).toEqual([200, "8"]);
  });

  it("does not get a cached response of an earlier block, nor does it need a notification", async () => {
    const path = `/agents?owner=${ADDRESS}`;
    for (let n = 0; n < 3; n += 1) expect(indexedBlockOf(await get(path))).toBe("7");
    await moveTo(9, { announced: false });
    expect(indexedBlockOf(await get(path))).toBe("7");
    expect(indexedBlockOf(await get(path, "9"))).toBe("9");
    // The next request must not get the older one either.
    expect(indexedBlockOf(await get(path))).toBe("9");
  });

  it("says 503 with the block it has when the block does not come", async () => {
    const startedMs = performance.now();
    const response = await getHastily("/agents/7", "9223372036854775807");
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(HASTY_MS - 5);
    expect(response.status).toBe(503);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-error-code": "BLOCK_NOT_INDEXED",
      "x-block-number": "7",
      "retry-after": "1",
    });
    expect(response.body).toEqual({
      error: "The index is at block 7 and has not reached block 9223372036854775807; try again in a moment.",
    });
  });

  it.each([
    "",
    " ",
    "-1",
    "1.5",
    "0x7",
    "1e3",
    "07",
    "9223372036854775808",
    "9".repeat(400),
    "3, 4",
    "latest",
  ])("rejects %j, also next to a valid one", async (text) => {
    expect((await get(`/agents/7?min_block=${encodeURIComponent(text)}`)).status).toBe(400);
    expect((await get(`/agents/7?min_block=${encodeURIComponent(text)}`, "3")).status).toBe(400);
    if (text.trim() !== text) return;
    expect((await get("/agents/7", text)).status).toBe(400);
    expect((await get("/agents/7?min_block=3", text)).status).toBe(400);
  });

  it("reads as of the block of the same request once it is there", async () => {
    expect((await get("/agents/7?block=8")).status).toBe(400);
    const waiting = get("/agents/7?block=8", "8");
    await pause(30);
    await moveTo(8);
    expect((await waiting).status).toBe(200);
    expect((await get("/agents/8?block=7", "8")).status).toBe(404);
    expect((await get("/agents/7?block=9", "8")).status).toBe(400);
  });

  it("counts numbers, whatever the fork", async () => {
    await moveTo(8, { fork: 1 });
    expect(indexedBlockOf(await get("/agents/7", "8"))).toBe("8");
    // Rolled back: 8 is gone until the other fork has it.
    await moveTo(6, { fork: 2 });
    // Until the notice is here, the response of the other fork is still cached.
    await vi.waitFor(async () => expect(indexedBlockOf(await get("/agents/7"))).toBe("6"));
    const waiting = get("/agents/7", "8");
    await pause(30);
    await moveTo(8, { fork: 2 });
    const response = await waiting;
    expect([indexedBlockOf(response), response.headers.get("x-indexed-block-hash")?.slice(-2)]).toEqual([
      "8",
      "02",
    ]);
  });

  it("describes x-min-block for every read, preflight and the write about an intent", async () => {
    const operations = Object.entries(client.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters }]) => ({ path, method, parameters })),
    );
    const names = (given: readonly unknown[]) => given.map((each) => (each as { name: string }).name);
    const taking = operations.filter(({ parameters }) => names(parameters).includes("x-min-block"));
    expect(taking.every(({ parameters }) => names(parameters).includes("min_block"))).toBe(true);
    const reads = [...indexReads, ...writeReads].map(({ path }) => `get ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(taking.map(({ path, method }) => `${method} ${path}`).sort()).toEqual(
      [...reads, "get /integrity", "post /preflight", "put /intents/{id}/metadata"].sort(),
    );
  });

  it.each([...indexReads, ...writeReads].map(({ path }) => path))(
    "responds 503 to x-min-block above the index: %s",
    async (path) => {
      const target = path
        .replace(/:address/, ADDRESS)
        .replace(/:\w*[hH]ash/, `0x${"1".repeat(64)}`)
        .replace(/:\w+/, "7");
      const { status, headers } = await getHastily(
        `${target}?owner=${ADDRESS}&token=${ADDRESS}&hash=${HASH}`,
        "1000",
      );
      expect([status, headers.get("x-error-code")]).toEqual([503, "BLOCK_NOT_INDEXED"]);
    },
  );

  it("lets preflight wait as well", async () => {
    const preflight = (target: string) => client.call(target, { method: "POST", body: PREFLIGHT });
    const waiting = preflight("/preflight?min_block=8");
    await pause(30);
    await moveTo(8);
    const response = await waiting;
    expect([response.status, indexedBlockOf(response)]).toEqual([200, "8"]);
    await waitForHastyApi("8");
    const late = await hastyClient.call("/preflight?min_block=9", { method: "POST", body: PREFLIGHT });
    expect([late.status, late.headers.get("x-block-number")]).toEqual([503, "8"]);
    expect((await preflight("/preflight?min_block=x")).status).toBe(400);
  });

  it("lets the metadata of an intent wait for its block", async () => {
    const put = (api: ApiClient, target: string) => api.call(target, { method: "PUT", body: {} });
    const waiting = put(client, "/intents/8/metadata?min_block=8");
    await pause(30);
    await moveTo(8);
    // The intent does not exist, and now the index can say so.
    expect((await waiting).status).toBe(404);
    await waitForHastyApi("8");
    const late = await put(hastyClient, "/intents/9/metadata?min_block=9");
    expect([late.status, late.headers.get("x-block-number")]).toEqual([503, "8"]);
  });

  it("lets pages of other origins send x-min-block", async () => {
    const response = await fetch(`${patient.url}/agents/7`, { method: "OPTIONS" });
    expect(response.headers.get("access-control-allow-headers")).toContain("X-Min-Block");
  });
});

/** Resolves once servers of this process have begun so many requests: a pause may be too short on a busy machine. */
function whenBegun(count: number): Promise<void> {
  return new Promise((resolve) => {
    let begun = 0;
    const onRequest = () => {
      begun += 1;
      if (begun < count) return;
      unsubscribe(REQUEST_BEGUN, onRequest);
      resolve();
    };
    subscribe(REQUEST_BEGUN, onRequest);
  });
}

describe("requests that wait", () => {
  it("limits waiting requests per client, with 503 at once for the others", async () => {
    const begun = whenBegun(5);
    const waiting = Array.from({ length: 5 }, () => get("/agents/7", "100"));
    await begun;
    await pause(50);
    const startedMs = performance.now();
    const [refused, usual] = await Promise.all([get("/agents/7", "100"), get("/agents/7")]);
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    expect([refused.status, usual.status]).toEqual([503, 200]);
    await moveTo(100);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it("frees the slot of a waiting request when its connection closes", async () => {
    // One more than may wait.
    const sockets = Array.from({ length: 6 }, () =>
      connect({ port: Number(new URL(patient.url).port), host: "127.0.0.1" }),
    );
    const refused = Promise.race(sockets.map((socket) => once(socket, "data")));
    for (const socket of sockets) {
      socket.write("GET /agents/7 HTTP/1.1\r\nHost: a\r\nX-Min-Block: 100\r\n\r\n");
    }
    expect(String(await refused)).toContain("Too many");
    for (const socket of sockets) socket.destroy();
    const headers = { "x-min-block": "100" };
    // It waits instead of being refused.
    await vi.waitFor(
      () =>
        expect(
          fetch(`${patient.url}/agents/7`, { headers, signal: AbortSignal.timeout(500) }),
        ).rejects.toThrow(/timeout/),
      { timeout: 5_000 },
    );
  });

  it("ends waiting requests when the server shuts down", async () => {
    const slow = await startTestApi(index.database, { blockWaits: { waitMsMax: 60_000 } });
    const begun = whenBegun(1);
    const waiting = fetch(`${slow.url}/agents/7`, { headers: { "x-min-block": "100" } });
    await begun;
    const startedMs = performance.now();
    await slow.close();
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    const response = await waiting;
    expect([response.status, response.headers.get("x-error-code")]).toEqual([503, "SHUTTING_DOWN"]);
  });
});
