// The size of a backfill's batches, which decides its memory: bounded in events, except for a range that has more.
import fc from "fast-check";
import { expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { IndexBatch } from "../store/index/store.ts";
import { backfill, type IndexingContext } from "./backfill.ts";

const EVENTS_MAX = 4_000;

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;

function logOf(blockNumber: number, logIndex: number): ChainLog {
  return {
    address: `0x${"00".repeat(20)}`,
    topics: [],
    data: "0x",
    blockNumber,
    blockHash: hashOf(blockNumber),
    blockTimestamp: blockNumber,
    transactionHash: hashOf(blockNumber),
    transactionIndex: 0,
    logIndex,
  };
}

/** Ranges of one block each, and a database that writes a batch only once all that may be read is read. */
function contextOf(eventsOfRanges: readonly number[], folded: IndexBatch[]): IndexingContext {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const context: Record<string, unknown> = {
    chain: {
      async *streamHistory() {
        for (const [block, events] of eventsOfRanges.entries()) {
          const logs = Array.from({ length: events }, (_, index) => logOf(block, index));
          yield { fromBlock: block, toBlock: block, logs };
        }
      },
      readHeaders: async ([number = 0]: readonly number[]) => [
        { number, hash: hashOf(number), timestamp: number },
      ],
    },
    addDetails: async (logs: readonly ChainLog[]) => logs.map((log) => ({ log, details: null })),
    store: {
      prepare: async (batch: IndexBatch) => {
        folded.push(batch);
        const write = async () => {
          for (let turns = 0; turns < 20 * eventsOfRanges.length; turns += 1) await turn();
        };
        return { latest: undefined, write };
      },
    },
  };
  return context as unknown as IndexingContext;
}

it("keeps all events in order, and at most 4,000 in a batch unless one range has more", async () => {
  const events = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 9_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 8 }), async (eventsOfRanges) => {
      const folded: IndexBatch[] = [];
      const context = contextOf(eventsOfRanges, folded);
      const range = { from: 0, to: eventsOfRanges.length - 1 };
      for await (const _ of backfill(context, range, new AbortController().signal));
      const written = folded.flatMap(({ logs }) =>
        logs.map(({ log }) => `${log.blockNumber} ${log.logIndex}`),
      );
      const wanted = eventsOfRanges.flatMap((count, block) =>
        Array.from({ length: count }, (_, index) => `${block} ${index}`),
      );
      expect(written).toEqual(wanted);
      for (const { logs } of folded) {
        const ranges = new Set(logs.map(({ log }) => log.blockNumber)).size;
        if (ranges > 1) expect(logs.length).toBeLessThanOrEqual(EVENTS_MAX);
      }
    }),
    { numRuns: runsOf(30, { min: 5 }) },
  );
});

it("takes several ranges into a batch while the database is busy", async () => {
  const folded: IndexBatch[] = [];
  const context = contextOf([1_500, 1_500, 1_500, 1_500, 1_500], folded);
  for await (const _ of backfill(context, { from: 0, to: 4 }, new AbortController().signal));
  expect(folded.slice(1).some(({ logs }) => logs.length === 3_000)).toBe(true);
});
