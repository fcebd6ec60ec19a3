// Readers of events end with the events of the chain, in order and once, whatever reorgs happen between two pages.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  blockOfCursor,
  type EventStart,
  type EventsPage,
  formatCursor,
  identifyDeployment,
} from "../../../src/api/events/event-page.ts";
import { createEventReader, type ReadEvents } from "../../../src/api/events/read-events.ts";
import type { EventFilter } from "../../../src/protocol/event-filter.ts";
import { openPipelinedReader, type PipelinedReader } from "../../../src/store/fast/pipelined-reader.ts";
import { FINALITIES, type Finality } from "../../../src/store/index/event-logs.ts";
import { readDeploymentIdentity } from "../../../src/store/index/prepare.ts";
import { openIndexReader } from "../../../src/store/index/reader.ts";
import { runsOf } from "../../support/test-depth.ts";
import { type ChainEvent, EventIndex, OWNERS } from "./event-index.ts";
import { EventModel } from "./event-model.ts";

let index: EventIndex;
let pipelined: PipelinedReader;
let readEvents: ReadEvents;

beforeAll(async () => {
  index = await EventIndex.open();
  pipelined = openPipelinedReader(index.database);
  const { read } = openIndexReader({ quick: pipelined, slow: pipelined });
  readEvents = createEventReader({ run: read, readDeployment: () => readDeploymentIdentity(index.database) });
});
afterAll(async () => {
  await pipelined?.close();
  await index?.drop();
});
beforeEach(() => index.reset());

const EVERYTHING: EventFilter = { types: null, subjects: {} };

type Selection = {
  readonly filter: EventFilter;
  readonly finality: Finality;
  readonly passes: (event: ChainEvent) => boolean;
};

/** A client that keeps only the text of its last cursor between two pages. */
class PagedClient {
  readonly model = new EventModel();
  readonly #selection: Selection;
  cursor: string | null = null;

  constructor(selection: Selection) {
    this.#selection = selection;
  }

  async readPage(limit: number): Promise<EventsPage> {
    const { filter, finality } = this.#selection;
    const from = this.cursor === null ? { end: "genesis" as const } : { cursor: this.cursor };
    const page = await readEvents({ from, filter, finality, limit, client: null });
    if (page.undo) this.model.undo(page.undo);
    for (const { record } of page.events) this.model.append(record);
    this.model.progress(page.progress);
    this.cursor = page.progress.cursor;
    expect(page.events.length).toBeLessThanOrEqual(limit);
    return page;
  }

  async readToEnd(): Promise<void> {
    while ((await this.readPage(7)).hasMore);
  }

  expectComplete(): void {
    const upTo = index.upTo(this.#selection.finality, this.model.complete);
    const expected = index.events(upTo).filter(this.#selection.passes);
    expect(this.model.ids).toEqual(expected.map(({ id }) => id));
    if (this.#selection.finality === "finalized") expect(this.model.undoCount).toBe(0);
  }
}

/** A client that reads from the head downwards, and after an undo forgets everything past its block. */
class BackwardClient {
  readonly #selection: Selection;
  #events: { readonly id: string; readonly block_number: string }[] = [];
  #cursor: string | null = null;
  isDone = false;

  constructor(selection: Selection) {
    this.#selection = selection;
  }

  async readPage(limit: number): Promise<void> {
    const { filter, finality } = this.#selection;
    const from = this.#cursor === null ? { end: "head" as const } : { cursor: this.#cursor };
    const page = await readEvents({ from, order: "desc", filter, finality, limit, client: null });
    if (page.undo) {
      const to = Number(page.undo.block_number);
      this.#events = this.#events.filter(({ block_number }) => Number(block_number) <= to);
    }
    this.#events.push(...page.events.map(({ record }) => record));
    const newest = blockOfCursor(page.progress.forward_cursor ?? "") ?? -1;
    if (this.#cursor === null && finality !== "safe") expect(newest).toBe(index.upTo(finality, 0));
    this.#cursor = page.progress.cursor;
    this.isDone = !page.hasMore;
    if (this.isDone) expect(page.progress.block_number).toBe("0");
    this.#expectReverse(newest, Number(page.progress.block_number));
  }

  /** Between these blocks the client has the events of the chain, the last one first. */
  #expectReverse(newest: number, downTo: number): void {
    const expected = index
      .events(newest)
      .filter((event) => event.block >= downTo && this.#selection.passes(event));
    const read = this.#events.filter(({ block_number }) => Number(block_number) >= downTo);
    expect(read.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).toReversed());
  }
}

const FILTERS: readonly Pick<Selection, "filter" | "passes">[] = [
  { filter: EVERYTHING, passes: () => true },
  {
    filter: { types: ["IntentCancelled"], subjects: {} },
    passes: ({ type }) => type === "IntentCancelled",
  },
  {
    filter: { types: null, subjects: { account: OWNERS[0] ?? "" } },
    passes: ({ owner }) => owner === OWNERS[0],
  },
];
const SELECTIONS: readonly Selection[] = FINALITIES.flatMap((finality) =>
  FILTERS.map((each) => ({ ...each, finality })),
);

const instant: Selection = { filter: EVERYTHING, finality: "instant", passes: () => true };
const REORG_DEPTH_MAX = 9;

const step = fc.oneof(
  fc.record({
    kind: fc.constant("extend" as const),
    counts: fc.array(fc.constantFrom(0, 0, 1, 2, 5), { minLength: 1, maxLength: 6 }),
    unsettled: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({
    kind: fc.constant("rollback" as const),
    depth: fc.integer({ min: 1, max: REORG_DEPTH_MAX }),
  }),
  fc.record({
    kind: fc.constant("read" as const),
    client: fc.nat(SELECTIONS.length - 1),
    limit: fc.constantFrom(1, 2, 5, 100),
  }),
  fc.record({ kind: fc.constant("return" as const) }),
  // Rows that a rollback by an earlier version leaves behind, and rows that are kept for a limited time.
  fc.record({ kind: fc.constant("forget" as const) }),
);

describe("readEvents", () => {
  it("gives every client the events of the chain, whatever is undone between its pages", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await index.reset();
        const clients = SELECTIONS.map((selection) => new PagedClient(selection));
        for (const each of steps) {
          if (each.kind === "extend") await index.extend(each.counts, each.unsettled);
          else if (each.kind === "rollback") await index.rollback(each.depth);
          else if (each.kind === "return") await index.returnToRemoved();
          else if (each.kind === "forget") await index.database.query("truncate abandoned_blocks");
          else await clients[each.client]?.readPage(each.limit);
        }
        // If a rollback left no record, a client waits until the chain has its block again.
        await index.extend(Array.from({ length: REORG_DEPTH_MAX }, () => 0));
        for (const client of clients) {
          await client.readToEnd();
          client.expectComplete();
        }
      }),
      { numRuns: runsOf(300, { min: 20 }) },
    );
  }, 600_000);

  it("gives a client that reads backwards the reverse of the chain, whatever is undone between its pages", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await index.reset();
        const clients = SELECTIONS.map((selection) => new BackwardClient(selection));
        for (const each of steps) {
          if (each.kind === "extend") await index.extend(each.counts, each.unsettled);
          else if (each.kind === "rollback") await index.rollback(each.depth);
          else if (each.kind === "return") await index.returnToRemoved();
          else if (each.kind === "forget") await index.database.query("truncate abandoned_blocks");
          else await clients[each.client]?.readPage(each.limit);
        }
        for (const client of clients) {
          do await client.readPage(7);
          while (!client.isDone);
        }
      }),
      { numRuns: runsOf(300, { min: 20 }) },
    );
  }, 600_000);

  it.each(Array.from({ length: 8 }, (_, depth) => depth + 1))(
    "undoes %i blocks down to the common ancestor, before any event of the new branch",
    async (depth) => {
      await index.extend([1, 0, 1, 1, 0, 1, 1, 1], 8);
      const client = new PagedClient(instant);
      await client.readToEnd();
      await index.rollback(depth);
      const ancestor = index.head;
      await index.extend(Array.from({ length: depth + 1 }, () => 1));
      const page = await client.readPage(100);
      expect(page).toMatchObject({
        undo: { block_number: String(ancestor), block_hash: index.hashOf(ancestor) },
        events: [],
        hasMore: true,
      });
      await client.readToEnd();
      client.expectComplete();
      expect(client.model.undoCount).toBe(1);
    },
  );

  it("undoes to the ancestor of all branches when the chain forked several times meanwhile", async () => {
    await index.extend([1, 1, 1, 1, 1, 1], 6);
    const client = new PagedClient(instant);
    await client.readToEnd();
    for (const depth of [1, 3, 4]) {
      await index.rollback(depth);
      await index.extend([1, 1]);
    }
    // 6 → 5, +2 = 7 → 4, +2 = 6 → 2.
    expect((await client.readPage(100)).undo).toMatchObject({ block_number: "2" });
    await client.readToEnd();
    client.expectComplete();
  });

  it("undoes an event of a block that is only removed so far", async () => {
    await index.extend([1, 1, 1], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    await index.rollback(1);
    expect((await client.readPage(100)).undo).toMatchObject({ block_number: "2" });
    client.expectComplete();
  });

  it("continues after a branch was abandoned and adopted again", async () => {
    await index.extend([1, 1], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    await index.rollback(1);
    await index.extend([2, 1]);
    await index.returnToRemoved();
    await index.extend([1]);
    expect(await client.readPage(100)).toMatchObject({ undo: null, events: [{}] });
    client.expectComplete();
  });
});

describe("what is safe", () => {
  it("delivers safe events before they are final, and undoes them after a fork", async () => {
    await index.extend([1, 1, 1, 1, 1, 1], 4);
    expect([index.finalized, index.safe]).toEqual([2, 4]);
    const client = new PagedClient({ ...instant, finality: "safe" });
    await client.readToEnd();
    expect(client.model.events).toHaveLength(4);
    await index.rollback(3);
    await index.extend([1, 1, 1, 1]);
    expect((await client.readPage(100)).undo).toMatchObject({ block_number: "3" });
    await client.readToEnd();
    client.expectComplete();
  });

  it("delivers only final events if no node calls a block safe", async () => {
    await index.extend([1, 1, 1, 1], 2);
    await index.database.query("update checkpoint set safe_block = null");
    const client = new PagedClient({ ...instant, finality: "safe" });
    await client.readToEnd();
    expect(client.model.events).toHaveLength(2);
  });
});

describe("a cursor of an empty block that is final and deleted", () => {
  it("continues without an undo after an empty final block that is deleted", async () => {
    await index.extend([1, 1, 0], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    await index.extend([0, 1, 1], 1);
    await expectDeleted(3);
    expect((await client.readPage(100)).undo).toBeNull();
    client.expectComplete();
  });

  it("undoes to what was final if the branch was replaced without a record, by a block with events", async () => {
    await index.extend([1], 0);
    await index.extend([0, 0, 0], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    await index.rollback(2);
    await index.extend([1, 0, 1, 1], 1);
    await index.database.query("truncate abandoned_blocks");
    await expectDeleted(4);
    expect((await client.readPage(100)).undo).toMatchObject({ block_number: "1", block_hash: null });
    await client.readToEnd();
    client.expectComplete();
  });

  it("undoes to what was final if its last event was removed without a record", async () => {
    await index.extend([1], 0);
    await index.extend([1, 0], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    await index.rollback(2);
    await index.extend([1, 0, 1, 1], 1);
    await index.database.query("truncate abandoned_blocks");
    await expectDeleted(3);
    expect((await client.readPage(100)).undo).toMatchObject({ block_number: "1" });
    await client.readToEnd();
    client.expectComplete();
  });
});

describe("a cursor of a block that is not indexed here", () => {
  it("keeps a cursor whose block is not indexed here yet, without an undo", async () => {
    await index.extend([1, 1], 8);
    const client = new PagedClient(instant);
    await client.readToEnd();
    const { cursor } = client;
    // The replica has not got the last block yet.
    await index.rollback(1);
    await index.database.query("truncate abandoned_blocks");
    const page = await client.readPage(100);
    expect(page).toMatchObject({ undo: null, events: [], hasMore: false });
    expect(client.cursor).toBe(cursor);
  });
});

describe("from", () => {
  const from = (start: EventStart, finality: Finality = "instant") =>
    readEvents({ from: start, filter: EVERYTHING, finality, limit: 100, client: null });
  const blocksOf = ({ events }: EventsPage) => events.map(({ record }) => record.block_number);

  it("begins with a given block, at genesis or after the head", async () => {
    await index.extend([1, 0, 2, 1], 1);
    expect(blocksOf(await from({ end: "genesis" }))).toEqual(["1", "3", "3", "4"]);
    expect(blocksOf(await from({ block: 0 }))).toEqual(["1", "3", "3", "4"]);
    expect(blocksOf(await from({ block: 3 }))).toEqual(["3", "3", "4"]);
    expect(blocksOf(await from({ block: 3 }, "finalized"))).toEqual(["3", "3"]);
    expect([index.finalized, index.safe]).toEqual([3, 3]);
    expect(blocksOf(await from({ block: 5 }))).toEqual([]);
    expect(blocksOf(await from({ end: "head" }))).toEqual([]);
    await expect(from({ block: 6 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(from({ block: 5 }, "finalized")).rejects.toThrow("Block 5 is not finalized yet");
  });

  it("rejects a cursor of another deployment, and one that was changed", async () => {
    await index.extend([1], 1);
    const { progress } = await from({ end: "head" });
    const foreign = formatCursor({
      deployment: identifyDeployment({ chainId: 8453, startBlock: 1, contracts: {} }),
      ...{ block: 1, hash: index.hashOf(1) ?? null, logIndex: 0, finalized: 0, lastLogBlock: null },
    });
    await expect(from({ cursor: foreign })).rejects.toMatchObject({ code: "CURSOR_FOREIGN" });
    for (let at = 0; at < progress.cursor.length; at += 7) {
      const other = progress.cursor[at] === "A" ? "B" : "A";
      const changed = progress.cursor.slice(0, at) + other + progress.cursor.slice(at + 1);
      await expect(from({ cursor: changed }), changed).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    expect((await from({ cursor: progress.cursor })).undo).toBeNull();
  });

  it("begins backwards with a given block or the head, and rejects a cursor of the other order", async () => {
    await index.extend([1, 0, 2, 1], 1);
    const back = (start: EventStart, finality: Finality = "instant") =>
      readEvents({ from: start, order: "desc", filter: EVERYTHING, finality, limit: 100, client: null });
    expect(blocksOf(await back({ end: "head" }))).toEqual(["4", "3", "3", "1"]);
    expect(blocksOf(await back({ block: 3 }))).toEqual(["3", "3", "1"]);
    expect(blocksOf(await back({ block: 2 }))).toEqual(["1"]);
    expect(blocksOf(await back({ end: "head" }, "finalized"))).toEqual(["3", "3", "1"]);
    expect(blocksOf(await back({ end: "genesis" }))).toEqual([]);
    await expect(back({ block: 5 })).rejects.toThrow("Block 5 is not indexed yet");
    await expect(back({ block: 4 }, "finalized")).rejects.toThrow("Block 4 is not finalized yet");
    const { progress, events } = await back({ end: "head" });
    const forwards = await from({ end: "genesis" });
    await expect(back({ cursor: forwards.progress.cursor })).rejects.toThrow("belongs to order=asc");
    for (const cursor of [progress.cursor, events[0]?.record.cursor ?? ""])
      await expect(from({ cursor })).rejects.toThrow("belongs to order=desc");
    // Events that are newer than the first page come from there on.
    await index.extend([1]);
    expect(blocksOf(await from({ cursor: progress.forward_cursor ?? "" }))).toEqual(["5"]);
  });

  it.each(FINALITIES)("rejects a final block that is another one now: %s", async (finality) => {
    await index.extend([1, 2, 1], 1);
    const { events, progress } = await from({ end: "genesis" }, finality);
    const [first, second] = events.map(({ record }) => record.cursor);
    // The same chain is indexed again, and was rewritten from its second block on.
    await index.rewrite(2);
    expect((await from({ cursor: first ?? "" }, finality)).events.length).toBeGreaterThan(0);
    await expect(from({ cursor: second ?? "" }, finality)).rejects.toMatchObject({ code: "CURSOR_FOREIGN" });
    if (finality === "instant") return;
    await expect(from({ cursor: progress.cursor }, finality)).rejects.toThrow("Block 2 was final");
  });

  it("continues from the oldest cursor", async () => {
    await index.extend([1, 1], 0);
    const { events } = await from({ end: "genesis" });
    await index.extend(
      Array.from({ length: 50 }, () => 1),
      0,
    );
    const page = await from({ cursor: events[0]?.record.cursor ?? "" });
    expect([page.undo, page.events.length]).toEqual([null, 51]);
  });
});

describe("a page", () => {
  it("ends a page at its byte limit, and the next one has the rest", async () => {
    const large = "x".repeat(300_000);
    await index.extendWithLargeEvents(3, large);
    const client = new PagedClient(instant);
    expect((await client.readPage(100)).events).toHaveLength(1);
    await client.readToEnd();
    expect(client.model.events).toHaveLength(3);
  });

  it("searches a bounded number of logs per page, and says how far it came", async () => {
    await index.extend(
      Array.from({ length: 30 }, () => 50),
      0,
    );
    const client = new PagedClient({
      ...instant,
      passes: () => false,
      filter: { ...EVERYTHING, types: ["AgentRevoked"] },
    });
    const first = await client.readPage(5);
    expect(first).toMatchObject({ events: [], hasMore: true });
    expect(client.model.complete).toBe(19);
    expect(await client.readPage(5)).toMatchObject({ events: [], hasMore: false });
    expect(client.model.complete).toBe(30);
  });
});

async function expectDeleted(block: number): Promise<void> {
  const { rows } = await index.database.query({
    text: "select from blocks where number = $1",
    values: [block],
  });
  expect(rows).toEqual([]);
}
