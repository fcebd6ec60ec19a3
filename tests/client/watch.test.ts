// watch() of the client against the real API over a real database.
// Whatever happens to chain, connection and API, a program that applies items and undos ends with the chain's events.
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createSextant, type Sextant } from "../../packages/client/create-sextant.ts";
import type { WatchFilter, WatchOptions } from "../../packages/client/watch/watch.ts";
import type { WatchItem } from "../../packages/client/watch/watch-item.ts";
import { CHAIN_STEPS, type ChainEvent, EventIndex, OWNERS } from "../api/events/event-index.ts";
import { EventModel } from "../api/events/event-model.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { isFullDepth, runsOf } from "../support/test-depth.ts";

let index: EventIndex;
let api: TestApi;
/** The controllers of the connections of all watches. */
const connections = new Set<AbortController>();
/** Connections reach whatever API runs now, as behind one address. */
const sextant = createClient(() => api.url);

beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});
beforeEach(() => index.reset());

const PATIENCE = { timeout: 15_000, interval: 10 };
const waitFor = (check: () => void | Promise<void>) => vi.waitFor(check, PATIENCE);
const idsOf = (events: readonly ChainEvent[]) => events.map(({ id }) => id);

function createClient(currentUrl: () => string): Sextant {
  const reach: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(String(input));
    const connection = new AbortController();
    connections.add(connection);
    const signal = AbortSignal.any([connection.signal, ...(init?.signal ? [init.signal] : [])]);
    return fetch(`${currentUrl()}${pathname}${search}`, { ...init, signal });
  };
  // Restarts may follow each other before a watch has begun; packages/client/watch has the test of when it gives up.
  return createSextant({ api: "http://sextant.invalid", fetch: reach, attemptsMax: 100 });
}

/** As by a network that fails: the client is not asked to wait. */
function cutConnections(): void {
  for (const connection of connections) connection.abort();
  connections.clear();
}

/** Applies what a watch yields until it is stopped. */
class Watcher {
  readonly model = new EventModel();
  readonly kinds: WatchItem["kind"][] = [];
  cursor: string | null = null;
  failure: unknown = null;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  start(filter: WatchFilter, options: WatchOptions = {}): this {
    this.#stop = new AbortController();
    this.#running = this.#run(filter, options, this.#stop.signal).catch((error: unknown) => {
      this.failure = error;
    });
    return this;
  }

  async #run(filter: WatchFilter, options: WatchOptions, signal: AbortSignal): Promise<void> {
    const from = this.cursor ?? options.from ?? "head";
    for await (const item of sextant.watch(filter, { ...options, from, signal })) {
      this.kinds.push(item.kind);
      if (item.kind === "event") this.model.append(item.event);
      else if (item.kind === "undo") this.model.undo(item.undo);
      else this.model.progress(item.progress);
      this.cursor = item.cursor;
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    expect(this.failure).toMatchObject({ code: "ABORTED" });
    this.failure = null;
  }
}

describe("a watch", () => {
  it("yields history, what happens, and what a reorg undoes", async () => {
    await index.extend([1, 0, 2], 8);
    const watcher = new Watcher().start({}, { from: "genesis" });
    await waitFor(() => expect(watcher.kinds).toEqual(["event", "event", "event", "progress"]));
    await index.extend([1], 8);
    await waitFor(() => expect(watcher.model.ids).toEqual(idsOf(index.events())));
    await index.rollback(2);
    await index.extend([2], 8);
    await waitFor(() => {
      expect(watcher.model.undoCount).toBe(1);
      expect(watcher.model.ids).toEqual(idsOf(index.events()));
    });
    await watcher.stop();
  });

  it("passes only what its filter names, of the type of the API", async () => {
    await index.extend([12], 8);
    const filter = { type: ["IntentSubmitted"], account: OWNERS[1] ?? "" };
    for await (const item of sextant.watch(filter, { from: 1 })) {
      if (item.kind !== "event") break;
      expect(item.event).toMatchObject({
        ...{ type: "IntentSubmitted", contract: "IntentBook", block_number: "1" },
        args: { owner: OWNERS[1] },
        description: expect.stringMatching(/^Intent #\d+ submitted/),
        cursor: item.cursor,
      });
    }
    expect.assertions(
      index.events().filter(({ type, owner }) => type === "IntentSubmitted" && owner === OWNERS[1]).length,
    );
  });

  it("begins at the head unless it is asked for more", async () => {
    await index.extend([3], 8);
    const watcher = new Watcher().start({});
    await waitFor(() => expect(watcher.kinds).toEqual(["progress"]));
    await index.extend([1], 8);
    await waitFor(() => expect(watcher.model.ids).toEqual(idsOf(index.events()).slice(3)));
    await watcher.stop();
  });

  it("goes on through a restart of the API, with the undo of a reorg meanwhile", async () => {
    await index.extend([1, 1, 1], 8);
    const watcher = new Watcher().start({}, { from: "genesis" });
    await waitFor(() => expect(watcher.model.complete).toBe(3));
    await api.close();
    await index.rollback(2);
    await index.extend([1, 0, 1], 8);
    api = await startTestApi(index.database);
    await waitFor(() => expect(watcher.model.ids).toEqual(idsOf(index.events())));
    expect(watcher.model.undoCount).toBe(1);
    await watcher.stop();
  });

  it("watches only final events, without an undo, on request", async () => {
    await index.extend([1, 1, 1, 1, 1], 3);
    const watcher = new Watcher().start({}, { from: "genesis", finalized: true });
    await waitFor(() => expect(watcher.model.ids).toEqual(idsOf(index.events(2))));
    await index.rollback(3);
    await index.extend([1, 1, 1, 1], 3);
    await waitFor(() => expect(watcher.model.ids).toEqual(idsOf(index.events(3))));
    expect(watcher.kinds).not.toContain("undo");
    await watcher.stop();
  });

  it("does not take a cursor as final that was not", async () => {
    await index.extend([1, 1, 1], 8);
    const watcher = new Watcher().start({}, { from: "genesis" });
    await waitFor(() => expect(watcher.model.complete).toBe(3));
    await watcher.stop();
    await index.rollback(2);
    await index.extend([1, 1, 1], 8);
    const resumed = sextant.watch({}, { from: watcher.cursor ?? "", finalized: true });
    await expect(resumed.next()).rejects.toMatchObject({ code: "RESPONSE_INVALID" });
  });

  it("fails at once for what the API rejects", async () => {
    const failing: readonly [WatchFilter, WatchOptions, string][] = [
      [{ type: "Nonsense" }, {}, "INPUT_INVALID"],
      [{}, { from: "nonsense" }, "INPUT_INVALID"],
      [{}, { from: "A".repeat(132) }, "INPUT_INVALID"],
      [{}, { from: 1_000n }, "INPUT_INVALID"],
    ];
    for (const [filter, options, code] of failing) {
      await expect(sextant.watch(filter, options).next()).rejects.toMatchObject({ code, retry: "never" });
    }
  });
});

const WATCHERS: readonly {
  readonly filter: WatchFilter;
  readonly finality: "instant" | "safe" | "finalized";
  readonly passes: (event: ChainEvent) => boolean;
}[] = [
  { filter: {}, finality: "instant", passes: () => true },
  {
    filter: { type: "IntentCancelled" },
    finality: "instant",
    passes: ({ type }) => type === "IntentCancelled",
  },
  { filter: {}, finality: "safe", passes: () => true },
  { filter: {}, finality: "finalized", passes: () => true },
];

const step = fc.oneof(
  ...CHAIN_STEPS,
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("resume" as const), watcher: fc.nat(WATCHERS.length - 1) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pause" as const), ms: fc.constantFrom(1, 5, 30) }) },
);

// Few random steps may lack a reorg or a restart: the first run has every kind.
const EVERY_KIND: (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[] = [
  { kind: "extend", counts: [1, 3], unsettled: 6 },
  { kind: "pause", ms: 30 },
  { kind: "rollback", depth: 2 },
  { kind: "restart" },
  { kind: "extend", counts: [1, 1], unsettled: 6 },
  { kind: "resume", watcher: 0 },
  { kind: "rollback", depth: 1 },
  { kind: "return" },
];

// A restart of the API costs more than all other steps together.
const STEPS_MAX = isFullDepth() ? 25 : 12;

describe("watches through any number of reorgs, restarts of the API and of the program", () => {
  it("ends with the chain's events after any reorgs and restarts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: STEPS_MAX }), async (steps) => {
        await index.reset();
        const options = WATCHERS.map(({ finality }) => ({ from: "genesis", finality }));
        const watchers = WATCHERS.map(({ filter }, at) => new Watcher().start(filter, options[at]));
        for (const each of steps) {
          if (each.kind === "extend") await index.extend(each.counts, each.unsettled);
          else if (each.kind === "rollback") await index.rollback(each.depth);
          else if (each.kind === "return") await index.returnToRemoved();
          else if (each.kind === "pause") await pause(each.ms);
          else if (each.kind === "resume") {
            await watchers[each.watcher]?.stop();
            watchers[each.watcher]?.start(WATCHERS[each.watcher]?.filter ?? {}, options[each.watcher]);
          } else {
            cutConnections();
            await api.close();
            api = await startTestApi(index.database);
          }
        }
        await index.extend([1], 2);
        for (const [at, { finality, passes }] of WATCHERS.entries()) {
          const { model, failure } = watchers[at] as Watcher;
          await waitFor(() => {
            const upTo = index.upTo(finality, model.complete);
            expect(model.complete).toBe(upTo);
            expect(model.ids).toEqual(idsOf(index.events(upTo).filter(passes)));
          });
          expect(failure).toBeNull();
          if (finality === "finalized") expect(model.undoCount).toBe(0);
        }
        for (const watcher of watchers) await watcher.stop();
      }),
      { numRuns: runsOf(40, { min: 3 }), examples: [[EVERY_KIND]] },
    );
  }, 600_000);
});
