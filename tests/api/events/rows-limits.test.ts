// The cost of include=rows is limited: statements, logs and bytes of a page, shared work, and a fork in the middle of it.
import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { EventRowsLimits } from "../../../src/api/events/event-rows.ts";
import type { ReadEvents } from "../../../src/api/events/read-events.ts";
import { createEventMetrics, EVENT_STREAM_LIMITS, EventStreams } from "../../../src/api/events/streams.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createLogThrottle } from "../../../src/lib/log.ts";
import type { EventRecord } from "../../../src/protocol/event-page.ts";
import type { TextStream } from "../../../src/schema/endpoint.ts";
import { silentLog } from "../../support/quiet-log.ts";
import { bonded, FoldedIndex, registered } from "./folded-index.ts";

let index: FoldedIndex;

beforeAll(async () => {
  index = await FoldedIndex.open();
}, 60_000);
afterAll(() => index?.close());
beforeEach(async () => {
  index.beforeStatement = async () => undefined;
  await index.reset();
});

const EVERYTHING = { types: null, subjects: {} };

type PageOptions = { readonly limit?: number; readonly rows?: boolean };

/** All pages, each as its events. */
async function readPages(readEvents: ReadEvents, { limit = 100, rows = true }: PageOptions = {}) {
  const pages: EventRecord[][] = [];
  for (let from: Parameters<ReadEvents>[0]["from"] = { end: "genesis" }; ; ) {
    const page = await readEvents({
      from,
      filter: EVERYTHING,
      finality: "instant",
      limit,
      client: null,
      rows,
    });
    pages.push(page.events.map(({ record }) => record));
    from = page.cursor;
    if (!page.hasMore) return pages;
  }
}

/** The bonds after each event; null if the event has no rows. */
const bondsOf = (events: readonly EventRecord[]) =>
  events.map(({ rows }) => (rows === null ? null : rows?.map(({ after }) => after.bond)));

const countStatements = async (work: () => Promise<unknown>) => {
  const before = index.statements;
  await work();
  return index.statements - before;
};

describe("a row that a block changes several times", () => {
  it("shows a row as it was before and after each event of its block", async () => {
    await index.extend([registered(1, "first")]);
    await index.extend([bonded(1, 5), registered(2, "second"), bonded(2, 7), bonded(1, 6)]);
    const [events = []] = await readPages(index.openReader());
    const states = events.map(({ rows }) =>
      rows?.map(({ table, key, before, after }) => [table, key.solver_id, before?.bond ?? null, after.bond]),
    );
    expect(states).toEqual([
      [["solvers", "1", null, "0"]],
      [["solvers", "1", "0", "5"]],
      [["solvers", "2", null, "0"]],
      [["solvers", "2", "0", "7"]],
      [["solvers", "1", "5", "6"]],
    ]);
    expect(events[4]?.rows?.[0]?.after).toEqual({
      ...events[0]?.rows?.[0]?.after,
      bond: "6",
    });
  });
});

describe("a block that is too large", () => {
  const tooMany = [registered(1), registered(2), registered(3), registered(4)];

  it.each<[string, Partial<EventRowsLimits>]>([
    ["by its logs", { logsMax: 3 }],
    ["by the bytes of its logs", { logBytesMax: 800 }],
  ])("shows null instead of the rows of a block that is too large: %s", async (_, limits) => {
    await index.extend([registered(9)]);
    await index.extend(tooMany);
    await index.extend([bonded(9, 3)]);
    const events = (await readPages(index.openReader(limits))).flat();
    expect(bondsOf(events)).toEqual([["0"], null, null, null, null, ["3"]]);
  });

  it("counts long texts of changed rows towards the size of a block", async () => {
    await index.extend([registered(1, "x".repeat(600)), registered(2, "y".repeat(600)), registered(3)]);
    await index.extend([bonded(1, 1)]);
    await index.extend([bonded(1, 2), bonded(2, 2)]);
    await index.extend([bonded(2, 3)]);
    await index.extend([bonded(3, 4)]);
    const expected = [["0"], ["0"], ["0"], ["1"], null, null, ["3"], ["4"]];
    for (const limit of [1, 2, 3, 100]) {
      const events = (await readPages(index.openReader({ rowBytesMax: 1_000 }), { limit })).flat();
      expect(bondsOf(events), `pages of ${limit}`).toEqual(expected);
    }
  });
});

describe("a page", () => {
  it("ends a page before the block that would be too much to fold", async () => {
    for (let block = 0; block < 5; block += 1) {
      await index.extend([registered(3 * block + 1), registered(3 * block + 2), registered(3 * block + 3)]);
    }
    const pages = await readPages(index.openReader({ logsMax: 7 }));
    expect(pages.map((events) => events.length)).toEqual([6, 6, 3]);
    expect(bondsOf(pages.flat())).toEqual(Array.from({ length: 15 }, () => ["0"]));
  });

  it("ends a page with rows at its byte limit", async () => {
    const text = "x".repeat(100_000);
    await index.extend([registered(1, text), bonded(1, 1), bonded(1, 2), bonded(1, 3), bonded(1, 4)]);
    const pages = await readPages(index.openReader());
    // Arguments and row of the first, then twice the row each: two of these fit into half a megabyte.
    expect(pages.map((events) => events.length)).toEqual([2, 2, 1]);
  });

  it("runs two or three more statements for rows, however many blocks", async () => {
    for (let id = 1; id <= 20; id += 1) await index.extend([registered(id), bonded(id, 1)]);
    for (let id = 1; id <= 20; id += 1) await index.extend([bonded(id, 2)]);
    const readEvents = index.openReader();
    await readPages(readEvents, { limit: 1, rows: false });
    expect(await countStatements(() => readPages(readEvents, { rows: false }))).toBe(1);
    // Logs of the blocks, and rows before them; one more statement if folds read rows themselves.
    expect(await countStatements(() => readPages(readEvents))).toBe(1 + 2);
    // Everything is folded already.
    expect(await countStatements(() => readPages(readEvents))).toBe(1);
  });
});

describe("the pages of a block", () => {
  const block = Array.from({ length: 12 }, (_, at) => bonded(1, at));

  it("folds a block once for all its pages", async () => {
    await index.extend([registered(1)]);
    await index.extend(block);
    const readEvents = index.openReader();
    const pages = await readPages(readEvents, { limit: 1 });
    const first = await countStatements(() => readPages(readEvents, { limit: 1 }));
    expect(first).toBe(pages.length);
  });

  it.each<[string, Partial<EventRowsLimits>]>([
    ["time", { keptMsMax: 0 }],
    ["memory", { keptBytesMax: 1 }],
  ])("folds a block again if it is kept for no %s", async (_, limits) => {
    await index.extend([registered(1)]);
    await index.extend(block);
    const readEvents = index.openReader(limits);
    const expected = bondsOf((await readPages(index.openReader())).flat());
    const pages = await readPages(readEvents, { limit: 4 });
    expect(bondsOf(pages.flat())).toEqual(expected);
    // The second page begins in the block that the first one has folded.
    expect(await countStatements(() => readPages(readEvents, { limit: 4 }))).toBeGreaterThan(pages.length);
  });
});

describe("a fork while the rows are read", () => {
  it.each([1, 2])("reads a page again after a fork before statement %i after the logs", async (at) => {
    await index.extend([registered(1)]);
    await index.extend([bonded(1, 5)]);
    const readEvents = index.openReader();
    await readEvents({
      from: { end: "head" },
      filter: EVERYTHING,
      finality: "instant",
      limit: 1,
      client: null,
    });
    let left = at;
    index.beforeStatement = async () => {
      left -= 1;
      if (left !== -1) return;
      await index.rollback(1);
      await index.extend([bonded(1, 8), bonded(1, 9)]);
    };
    const events = (await readPages(readEvents)).flat();
    expect(left).toBeLessThan(0);
    expect(bondsOf(events)).toEqual([["0"], ["8"], ["9"]]);
  });

  it("reads a page again after a fork if all its rows are new", async () => {
    await index.extend([registered(1)]);
    const readEvents = index.openReader();
    let statements = 0;
    index.beforeStatement = async () => {
      statements += 1;
      if (statements !== 2) return;
      await index.rollback(1);
      await index.extend([registered(2), registered(3)]);
    };
    const events = (await readPages(readEvents)).flat();
    expect(events.map(({ args, rows }) => [args.solverId, rows?.map(({ key }) => key.solver_id)])).toEqual([
      ["2", ["2"]],
      ["3", ["3"]],
    ]);
  });
});

/** A client that takes everything at once. */
class OpenStream implements TextStream {
  readonly #end = new AbortController();
  readonly bufferedBytes = 0;
  sentMs = 0;
  text = "";

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  send(text: string): void {
    this.sentMs = performance.now();
    this.text += text;
  }

  drained = async () => undefined;

  end(text: string): void {
    this.text += text;
    this.destroy();
  }

  destroy(): void {
    this.#end.abort();
  }

  /** The messages that events carry after one with this text. */
  has(text: string): boolean {
    return this.text.includes(text);
  }
}

const isEventStatement = (text: string) => text.includes("as up_to,");

describe("any number of live streams", () => {
  it("shares the fold of a block among streams, and those without rows do not wait", async () => {
    const repeatLimit = createLogThrottle();
    const registry = new Registry();
    const streams = new EventStreams({
      readEvents: index.openReader(),
      // A poll would count as well.
      limits: { ...EVENT_STREAM_LIMITS, pollMs: 3_600_000, streamsPerClientMax: 1_000 },
      metrics: createEventMetrics(registry, systemClock),
      clock: systemClock,
      log: silentLog,
      repeatLimit,
    });
    const open = (rows: boolean) => {
      const stream = new OpenStream();
      const from = { end: "genesis" as const };
      const selection = { filter: EVERYTHING, finality: "instant", rows, parts: false } as const;
      streams.open(stream, { client: "one", from, cancel: () => undefined, ...selection });
      return stream;
    };
    await index.extend([registered(1)]);
    const plain = Array.from({ length: 20 }, () => open(false));
    const withRows = Array.from({ length: 20 }, () => open(true));
    const waitForAll = (all: readonly OpenStream[], text: string) =>
      vi.waitFor(() => expect(all.every((each) => each.has(text))).toBe(true), { timeout: 15_000 });
    try {
      await vi.waitFor(
        async () => expect(await registry.metrics()).toContain('sextant_event_streams{state="live"} 40'),
        { timeout: 15_000 },
      );
      let foldStatements = 0;
      index.beforeStatement = async (text) => {
        if (!isEventStatement(text)) foldStatements += 1;
      };
      await index.extend(Array.from({ length: 30 }, (_, bond) => bonded(1, bond)));
      streams.onChange();
      await waitForAll([...plain, ...withRows], '"block_number":"2","indexed_block":"2"');
      // The logs of the block, and the row before it.
      expect(foldStatements).toBe(2);
      expect(plain.some((each) => each.has('"rows"'))).toBe(false);
      expect(withRows.every((each) => each.has('"bond":"29"'))).toBe(true);
      expect(new Set(withRows.map(({ text }) => text)).size).toBe(1);

      // While rows of a block cannot be read, the others go on.
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      index.beforeStatement = async (text) => {
        if (!isEventStatement(text)) await held;
      };
      await index.extend([bonded(1, 77)]);
      streams.onChange();
      await waitForAll(plain, '"block_number":"3","indexed_block":"3"');
      expect(withRows.some((each) => each.has('"bond":"77"'))).toBe(false);
      release();
      await waitForAll(withRows, '"bond":"77"');
    } finally {
      index.beforeStatement = async () => undefined;
      streams.close();
      repeatLimit.close();
    }
  });
});
