// Events as CSV: those of the page with its filters, up to the shown block, and bounded like every file.
import { afterAll, beforeAll, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

type Event = { readonly id: string; readonly block_number: string };

async function readEvents(query: string): Promise<readonly Event[]> {
  const response = await stage.get(`/events?limit=1000&${query}`);
  return ((await response.json()) as { readonly events: readonly Event[] }).events;
}

async function readFile(path: string) {
  const response = await stage.get(path);
  expect(response.status, path).toBe(200);
  const [head = "", ...lines] = (await response.text()).trimEnd().split("\r\n");
  const place = head.split(",").indexOf("id");
  return { response, head, ids: lines.map((line) => line.split(",")[place]) };
}

/** The file that a page leads to. */
async function findFile(path: string): Promise<string> {
  const text = await (await stage.get(path)).text();
  return /href="(\/explorer\/events\.csv[^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "none";
}

const idsOf = (events: readonly Event[]) => events.map(({ id }) => id);

it("the CSV has the filters of its page, and the events of the API in the order of the chain", async () => {
  const link = await findFile("/explorer/events?type=IntentSubmitted&from=genesis");
  const { head, ids, response } = await readFile(link);
  const events = await readEvents("type=IntentSubmitted&from=genesis");
  expect(events.length).toBeGreaterThan(20);
  expect(ids).toEqual(idsOf(events));
  expect(head.split(",")).toEqual(expect.arrayContaining(["type", "args", "description", "tx_hash"]));
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="events.csv"');
});

it("the CSV without filters has all events that the page shows", async () => {
  const link = await findFile("/explorer/events");
  const { ids } = await readFile(link);
  const shown = (await (await stage.get("/explorer/events")).text()).match(/data-label="Block"/g) ?? [];
  expect(shown.length).toBeGreaterThan(10);
  expect(ids.length).toBeGreaterThanOrEqual(shown.length);
  // A response of the API may have fewer than the file, because of their size.
  const newest = idsOf(await readEvents(link.split("?")[1] ?? ""));
  expect(newest.length).toBeGreaterThan(shown.length);
  expect(ids.slice(0, newest.length)).toEqual(newest);
});

it("the CSV ends at the shown block, and that of a block has its events alone", async () => {
  const middle = Math.floor(stage.head / 2);
  const all = await readEvents("from=genesis");
  const { ids } = await readFile(`/explorer/events.csv?block=${middle}`);
  expect(ids.length).toBeGreaterThan(10);
  expect(ids).toEqual(idsOf(all.filter(({ block_number }) => Number(block_number) <= middle)));
  const block = all.find(({ block_number }) => Number(block_number) >= middle)?.block_number ?? "";
  const own = await readFile(await findFile(`/explorer/blocks/${block}`));
  expect(own.ids).toEqual(idsOf(all.filter((each) => each.block_number === block)));
});
