// The page of a transaction finds its events behind those of others in the same block.
import { expect, it } from "vitest";
import { readEventsOf } from "./transaction.ts";

const BLOCK = "7";

/** A block of transactions with one event each, served in pages as the API does. */
function serveBlock(count: number) {
  const all = Array.from({ length: count }, (_, at) => ({ tx_hash: `0x${at}`, block_number: BLOCK }));
  const api = {
    requestsLeft: 4,
    get: async (
      _route: string,
      { query = {} }: { readonly query?: Readonly<Record<string, unknown>> } = {},
    ) => {
      api.requestsLeft -= 1;
      const start = query.from === BLOCK ? 0 : Number(query.from);
      const events = all.slice(start, start + Number(query.limit));
      const cursor = String(start + events.length);
      return { body: { events, has_more: Number(cursor) < count, progress: { cursor } }, call: {} };
    },
  };
  return api as unknown as Parameters<typeof readEventsOf>[0];
}

it.each([1, 17, 100, 300])(
  "finds the last transaction of a block with %i others before it",
  async (others) => {
    const wanted = { tx_hash: `0x${others}`, block_number: BLOCK };
    const explanation = { ...wanted, events: [{}] } as unknown as Parameters<typeof readEventsOf>[1];
    const { body } = await readEventsOf(serveBlock(others + 1), explanation);
    expect(body).toEqual([wanted]);
  },
);
