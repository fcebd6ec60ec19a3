// Pages are as fresh as the API: after a block, a reorg and a write; and they cost what their reads cost.
// In main, page-requests.test.ts counts the requests of every page.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
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
/** Without markup: the sentences have links. */
const openText = async (path: string) => (await open(path)).text.replace(/<[^>]*>/g, "");
const newestIntent = () => index.events().findLast(({ type }) => type === "IntentSubmitted")?.intent ?? "";

describe("a page", () => {
  it("shows a new block, and what a reorg left of it", async () => {
    const before = newestIntent();
    expect((await open(`/explorer/intents/${before}`)).status).toBe(200);
    expect(await openText("/explorer")).toContain(`Intent #${before} `);
    await index.extend([3], 50);
    const added = newestIntent();
    await expect.poll(() => openText("/explorer")).toContain(`Intent #${added} `);
    expect((await open(`/explorer/intents/${added}`)).status).toBe(200);
    expect((await open(`/explorer/intents/${added}?block=${index.head}`)).status).toBe(200);
    expect((await open(`/explorer/intents/${added}?block=${index.head - 1}`)).status).toBe(404);
    await index.rollback(1);
    await expect.poll(async () => (await open(`/explorer/intents/${added}`)).status).toBe(404);
    expect(await openText("/explorer")).not.toContain(`Intent #${added} `);
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
  const LIMIT = 6;
  const openLimited = async () => {
    const limited = await startTestApi(index.database, {
      ...{ requestsPerMinuteMax: LIMIT, trustedProxies: 1, cacheBytesMax: 0 },
    });
    onTestFinished(() => limited.close());
    return async (visitor: string, path: string) =>
      (await fetch(limited.url + path, { headers: { "x-forwarded-for": visitor } })).status;
  };

  it("counts a page once, however many reads it takes, for the visitor behind a proxy", async () => {
    const visit = await openLimited();
    const path = `/explorer/intents/${newestIntent()}`;
    const statuses: number[] = [];
    for (let sent = 0; sent <= LIMIT; sent += 1) statuses.push(await visit("10.0.0.1", path));
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(200), 429]);
    expect(await visit("10.0.0.2", path)).toBe(200);
  });

  it("lets no visitor run slow pages at once beyond its share, and no other wait for them", async () => {
    const served = await startTestApi(index.database, { trustedProxies: 1, cacheBytesMax: 0 });
    onTestFinished(() => served.close());
    const visit = (visitor: string, limit: number) =>
      fetch(`${served.url}/explorer/intents?block=1&limit=${limit}`, {
        headers: { "x-forwarded-for": visitor },
      });
    const statuses: number[] = [];
    const many: Promise<void>[] = [];
    // A list as of an earlier block is a slow read: one runs, ten wait, and the rest is rejected at once.
    await index.database.transaction(async (session) => {
      await session.query("lock table intents in access exclusive mode");
      for (let sent = 1; sent <= 60; sent += 1) {
        many.push(visit("10.0.1.1", sent).then(({ status }) => void statuses.push(status)));
      }
      const rejected = () => statuses.filter((status) => status === 503).length;
      await vi.waitFor(() => expect(rejected()).toBeGreaterThanOrEqual(49), { timeout: 30_000 });
    });
    expect((await visit("10.0.1.2", 5)).status).toBe(200);
    await Promise.all(many);
    expect(statuses).toContain(200);
  });
});

describe("a chain that moves while a page is read", () => {
  it("leaves every page at one block, and none unavailable", async () => {
    const served = await startTestApi(index.database, { cacheBytesMax: 0 });
    onTestFinished(() => served.close());
    const before = index.head;
    let isDone = false;
    const moving = (async () => {
      while (!isDone) await index.extend([2], 50);
    })();
    try {
      for (let visit = 0; visit < 30; visit += 1) {
        const response = await fetch(`${served.url}/explorer`);
        const text = await response.text();
        expect(response.status, text.slice(0, 500)).toBe(200);
        const shown = Number(
          /block ([0-9,]+) · final to/.exec(text.replace(/<[^>]*>/g, ""))?.[1]?.replaceAll(",", ""),
        );
        expect(shown).toBeGreaterThanOrEqual(before);
        // The newest intent of the list and the newest event of the feed are those of the block.
        const newest = index.events(shown).at(-1);
        const listed =
          /data-label="Intent"><div class="cell"><a class="record" href="[^"]*\/intents\/(\d+)/.exec(text);
        expect(listed?.[1]).toBe(newest?.intent);
        expect(/<li data-block="(\d+)"/.exec(text)?.[1]).toBe(String(newest?.block));
      }
      expect(index.head).toBeGreaterThan(before + 10);
    } finally {
      isDone = true;
      await moving;
    }
  });
});
