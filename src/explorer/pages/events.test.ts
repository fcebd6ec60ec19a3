// A page of events is full, although each request to the API looks through a limited number of logs.
import { expect, it } from "vitest";
import { eventsPage } from "./events.ts";

const EVENTS_PER_REQUEST = 30;

/** Serves few events a request, as the API does when a filter finds few; returns the queries that were sent. */
async function requestPage(query: Readonly<Record<string, string>>) {
  const sent: Readonly<Record<string, unknown>>[] = [];
  const api = {
    requestsLeft: 5,
    get: async (_route: string, values: { readonly query: Readonly<Record<string, unknown>> }) => {
      api.requestsLeft -= 1;
      sent.push(values.query);
      const count = Math.min(EVENTS_PER_REQUEST, Number(values.query.limit));
      const events = Array.from({ length: count }, () => ({ block_number: "1" }));
      return { body: { events, has_more: true, progress: { cursor: `cursor${sent.length}` } }, call: {} };
    },
  };
  const given = { params: {}, query, block: null, asked: null, base: "" };
  await eventsPage.show(api as unknown as Parameters<typeof eventsPage.show>[0], given);
  return sent.map(({ from, order, limit }) => [from ?? null, order ?? null, limit]);
}

it("reads on until a page of filtered events is full, newest first, and keeps a request for the head", async () => {
  expect(await requestPage({ type: "IntentFilled" })).toEqual([
    [null, "desc", "100"],
    ["cursor1", "desc", "70"],
    ["cursor2", "desc", "40"],
    ["cursor3", "desc", "10"],
  ]);
});

it("goes in the order of the chain from a position that the visitor gives", async () => {
  const [first] = await requestPage({ type: "IntentFilled", from: "7" });
  expect(first).toEqual(["7", null, "100"]);
  const [all] = await requestPage({ order: "asc" });
  expect(all).toEqual(["genesis", null, "100"]);
});
