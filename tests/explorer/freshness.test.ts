// Pages are as fresh as the API: after a block, a reorg and a write; and they cost what their reads cost.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Database } from "../../src/store/postgres/database.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { openEmptyIndex } from "../support/index/empty-index.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

let index: EventIndex;
let api: TestApi;

beforeAll(async () => {
  index = await EventIndex.open();
  await index.extend([1, 1], 50);
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});

const open = async (path: string) => {
  const response = await fetch(api.url + path);
  return { status: response.status, text: await response.text() };
};
const newestIntent = () => index.events().findLast(({ type }) => type === "IntentSubmitted")?.intent ?? "";

describe("a page", () => {
  it("shows a new block, and what a reorg left of it", async () => {
    const before = newestIntent();
    expect((await open(`/explorer/intents/${before}`)).status).toBe(200);
    expect((await open("/explorer")).text).toContain(`Intent #${before} `);
    await index.extend([3], 50);
    const added = newestIntent();
    await expect.poll(async () => (await open("/explorer")).text).toContain(`Intent #${added} `);
    expect((await open(`/explorer/intents/${added}`)).status).toBe(200);
    expect((await open(`/explorer/intents/${added}?block=${index.head}`)).status).toBe(200);
    expect((await open(`/explorer/intents/${added}?block=${index.head - 1}`)).status).toBe(404);
    await index.rollback(1);
    await expect.poll(async () => (await open(`/explorer/intents/${added}`)).status).toBe(404);
    expect((await open("/explorer")).text).not.toContain(`Intent #${added} `);
    expect((await open(`/explorer/intents/${before}`)).status).toBe(200);
  });

  it("shows at once what was written to the API", async () => {
    const intent = newestIntent();
    const path = `/explorer/intents/${intent}`;
    expect((await open(path)).text).toContain("Its owner has stored no metadata");
    const metadata = { execution_target: `0x${"11".repeat(20)}`, execution_data: "0xc0ffee" };
    const written = await fetch(`${api.url}/intents/${intent}/metadata`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(metadata),
    });
    expect(written.status, await written.text()).toBeLessThan(300);
    expect((await open(path)).text).toContain("0xc0ffee");
  });
});

describe("the first page", () => {
  const openFirst = async (opened: { database: Database; drop(): Promise<void> }) => {
    const served = await startTestApi(opened.database);
    onTestFinished(async () => {
      await served.close();
      await opened.drop();
    });
    return fetch(`${served.url}/explorer`);
  };

  it("shows an index without events as empty", async () => {
    const response = await openFirst(await openEmptyIndex());
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("There is no such receipt at this block.");
  });

  it("the first page is an error that says what to do while nothing is indexed", async () => {
    const response = await openFirst(await openTestDatabase());
    expect(response.status).toBe(503);
    expect(response.headers.get("x-error-code")).toBe("INDEX_EMPTY");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toMatch(/Not available at the moment[\s\S]*Reload the page in/);
  });
});

describe("the limit of requests", () => {
  it("counts a page and its reads, and a cached page as one", async () => {
    const limited = await startTestApi(index.database, { requestsPerMinuteMax: 20 });
    onTestFinished(() => limited.close());
    const status = async (path: string) => (await fetch(limited.url + path)).status;
    // The page, the head, the intent, its bids and its events.
    const path = `/explorer/intents/${newestIntent()}`;
    expect(await status(path)).toBe(200);
    // Cached once the database has reported that it is connected, which the first request may precede.
    const rest: number[] = [];
    for (let sent = 0; sent < 20; sent += 1) rest.push(await status(path));
    const allowed = rest.filter((each) => each === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(3);
    expect(allowed).toBeLessThanOrEqual(15);
    expect(rest.at(-1)).toBe(429);
  });
});
