// Pages over blocks with more events than a page of the API: the newest come first, and what is not shown is said.
// A fast test of the same order and of what a page leaves out: the list of events in chain-pages.test.ts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";

const MINUTE = 60_000;
const LARGE = 700;

let index: EventIndex;
let api: TestApi;

beforeAll(async () => {
  index = await EventIndex.open();
  await index.extend([1, 1_500, 1, 100, 101], 50);
  await index.extend(Array<number>(5).fill(LARGE), 50);
  api = await startTestApi(index.database);
}, 2 * MINUTE);
afterAll(async () => {
  await api?.close();
  await index?.drop();
});

async function open(path: string): Promise<string> {
  const response = await fetch(api.url + path);
  expect(response.status, path).toBe(200);
  return response.text();
}

const textOf = (markup: string) => markup.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
const intentsOf = (markup: string) =>
  [...textOf(markup).matchAll(/Intent #([\d,]+) (?:submitted|cancelled)/g)].map(([, id = ""]) =>
    id.replaceAll(",", ""),
  );
const newest = (count: number, upTo?: number) =>
  index
    .events(upTo)
    .slice(-count)
    .map(({ intent }) => intent)
    .reverse();

it("lists the newest events first, however many a block has", async () => {
  const markup = await open("/explorer/events");
  expect(intentsOf(markup)).toEqual(newest(100));
  const next = /rel="next" href="([^"]+)"/.exec(markup)?.[1]?.replaceAll("&amp;", "&") ?? "";
  expect(intentsOf(await open(next))).toEqual(newest(200).slice(100));
  const asOf = await open(`/explorer/events?block=${index.head - 3}`);
  expect(intentsOf(asOf)).toEqual(newest(100, index.head - 3));
});

it("filters events from a page of older ones", async () => {
  const markup = await open("/explorer/events");
  const next = /rel="next" href="([^"]+)"/.exec(markup)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const older = await open(next);
  const form = older.slice(older.indexOf('class="filters"'));
  const from = /name="from" value="([^"]*)"/.exec(form)?.[1];
  await open(`/explorer/events?type=IntentSubmitted&from=${encodeURIComponent(from ?? "missing")}`);
});

it("writes events backwards from the shown block into a file", async () => {
  const file = await open("/explorer/events.csv?order=desc&block=5");
  const [head = "", first = ""] = file.split("\r\n");
  expect(first).toContain(String(index.events(5).at(-1)?.intent));
  expect(head).not.toMatch(/rows|parts/);
});

it("begins with the newest events on the first page", async () => {
  const feedOf = (markup: string) => intentsOf(markup.slice(markup.indexOf('class="feed"')));
  expect(feedOf(await open("/explorer")).slice(0, 10)).toEqual(newest(10));
  const asOf = await open("/explorer?block=2");
  expect(feedOf(asOf).slice(0, 10)).toEqual(newest(10, 2));
});

it("shows a part of a large block, and says so", async () => {
  for (const [block, count] of [
    [2, "more than 100"],
    [3, "1"],
    [4, "100"],
    [5, "more than 100"],
  ] as const) {
    const markup = await open(`/explorer/blocks/${block}`);
    expect(textOf(markup)).toContain(`Events of the protocol ${count} Transactions`);
    expect(markup.length).toBeLessThan(150_000);
    expect(markup.includes(`/explorer/events?from=${block}"`)).toBe(count.startsWith("more"));
  }
});

it("events.csv has a thousand events, and its link says where it goes on", async () => {
  const response = await fetch(`${api.url}/explorer/events.csv`);
  expect(response.headers.get("content-disposition")).toContain('filename="events-first-1000.csv"');
  expect((await response.text()).trimEnd().split("\r\n")).toHaveLength(1_001);
  const [, next = ""] = /^<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "") ?? [];
  const { events } = JSON.parse(await open(next)) as { events: readonly { args: { intentId: string } }[] };
  expect(events[0]?.args.intentId).toBe(index.events()[1_000]?.intent);
});

it("says before which block events of an old record may be missing, and names no change that is not known", async () => {
  const BLOCK = 9;
  const [{ intent, owner } = { intent: "", owner: "" }] = index.events();
  const record = await open(`/explorer/intents/${intent}?block=${BLOCK}`);
  expect(record).not.toContain("more events than this page shows");
  expect(record).toMatch(/Events before block <[^>]+>\d/);
  // Neither the events of the intent nor those of its owner are all read: any event counts.
  for (const markup of [record, await open(`/explorer/accounts/${owner}?block=${BLOCK}`)]) {
    expect(markup).toContain(`title="Previous change: block ${BLOCK - 1}"`);
    expect(markup).toContain(`title="Next change: block ${BLOCK + 1}"`);
  }
});
