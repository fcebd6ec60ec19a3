// The size of a backfill's batches, which decides its memory, and how far it reads ahead of a distant node.
import fc from "fast-check";
import { expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { IndexBatch, IndexStore } from "../store/index/store.ts";
import { backfill, type IndexingContext } from "./backfill.ts";

const EVENTS_MAX = 6_000;

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

type Folded = Pick<IndexBatch, "logs" | "tip">;

/** Ranges of one block each; every batch that is written goes to `onWritten`. */
function contextOf(ranges: AsyncIterable<number>, onWritten: (batch: Folded) => void): IndexingContext {
  const open: IndexStore["open"] = () => {
    const logs: Folded["logs"][number][] = [];
    return {
      add: async (part) => void logs.push(...part.logs),
      finish: async ({ tip }) => ({
        latest: () => undefined,
        write: async () => onWritten({ logs, tip }),
      }),
    };
  };
  const context: Record<string, unknown> = {
    chain: {
      async *streamHistory() {
        let block = 0;
        for await (const events of ranges) {
          const logs = Array.from({ length: events }, (_, index) => logOf(block, index));
          yield { fromBlock: block, toBlock: block, logs };
          block += 1;
        }
      },
      readHeaders: async ([number = 0]: readonly number[]) => [
        { number, hash: hashOf(number), timestamp: number },
      ],
    },
    addDetails: async (logs: readonly ChainLog[]) => logs.map((log) => ({ log, details: null })),
    store: { open },
  };
  return context as unknown as IndexingContext;
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

async function run(context: IndexingContext, ranges: number): Promise<void> {
  for await (const _ of backfill(context, { from: 0, to: ranges - 1 }, new AbortController().signal));
}

it("keeps all events in order, and at most 6,000 in a batch unless one range has more", async () => {
  const events = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 9_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 8 }), async (eventsOfRanges) => {
      const folded: Folded[] = [];
      await run(
        contextOf(each(eventsOfRanges), (batch) => folded.push(batch)),
        eventsOfRanges.length,
      );
      const written = folded.flatMap(({ logs }) =>
        logs.map(({ log }) => `${log.blockNumber} ${log.logIndex}`),
      );
      const wanted = eventsOfRanges.flatMap((count, block) =>
        Array.from({ length: count }, (_, index) => `${block} ${index}`),
      );
      expect(written).toEqual(wanted);
      expect(folded.at(-1)?.tip.number).toBe(eventsOfRanges.length - 1);
      for (const { logs } of folded) {
        const ranges = new Set(logs.map(({ log }) => log.blockNumber)).size;
        if (ranges > 1) expect(logs.length).toBeLessThanOrEqual(EVENTS_MAX);
      }
    }),
    { numRuns: runsOf(30, { min: 5 }) },
  );
});

it("takes ranges into a batch until it is full", async () => {
  const sizes: number[] = [];
  await run(
    contextOf(each([1_500, 1_500, 1_500, 1_500, 1_500]), ({ logs }) => sizes.push(logs.length)),
    5,
  );
  expect(sizes).toEqual([EVENTS_MAX, 1_500]);
});

it("writes what it has when the node makes it wait", async () => {
  const sizes: number[] = [];
  let isWritten = () => {};
  const written = new Promise<void>((resolve) => {
    isWritten = resolve;
  });
  async function* slowNode() {
    yield 10;
    await written;
    yield 20;
  }
  const context = contextOf(slowNode(), ({ logs }) => {
    sizes.push(logs.length);
    isWritten();
  });
  await run(context, 2);
  expect(sizes).toEqual([10, 20]);
});

it("reads the details of three ranges at once, in order, so that a distant node does not slow it down", async () => {
  const folded: number[] = [];
  const context = contextOf(each([1, 2, 3, 4, 5, 6, 7]), ({ logs }) => folded.push(logs.length));
  const waiting: (() => void)[] = [];
  const addDetails: IndexingContext["addDetails"] = async (logs) => {
    // Holds back until three wait, or the last ones do.
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 3 || logs.length === 7) for (const go of waiting.splice(0).reverse()) go();
    });
    return logs.map((log) => ({ log, details: null }) as never);
  };
  await run({ ...context, addDetails }, 7);
  expect(folded.reduce((sum, count) => sum + count, 0)).toBe(28);
});

it("stops reading ahead when a write fails", async () => {
  const signals: AbortSignal[] = [];
  const context = contextOf(each(Array<number>(9).fill(EVENTS_MAX)), () => {
    throw new Error("the disk is full");
  });
  const addDetails: IndexingContext["addDetails"] = (logs, signal) => {
    if (signal) signals.push(signal);
    return context.addDetails(logs, signal);
  };
  await expect(run({ ...context, addDetails }, 9)).rejects.toThrow("the disk is full");
  expect(signals.length).toBeLessThan(9);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});
