// Event streams over HTTP: clients end with the events of the chain, whatever happens to it, to them and to the API.

import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createEventsEndpoint } from "../../../src/api/events/endpoint.ts";
import { formatCursor, identifyDeployment } from "../../../src/api/events/event-page.ts";
import { createEventReader } from "../../../src/api/events/read-events.ts";
import {
  createEventMetrics,
  EVENT_STREAM_LIMITS,
  type EventStreamLimits,
  EventStreams,
} from "../../../src/api/events/streams.ts";
import { addEndpointRoutes } from "../../../src/http/routes/endpoints.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createLog, createLogThrottle } from "../../../src/lib/log.ts";
import { openPipelinedReader } from "../../../src/store/fast/pipelined-reader.ts";
import { FINALITIES } from "../../../src/store/index/event-logs.ts";
import { readDeploymentIdentity } from "../../../src/store/index/prepare.ts";
import { openIndexReader } from "../../../src/store/index/reader.ts";
import {
  type EventStreamClient,
  openEventStreamClient,
  type StreamMessage,
} from "../../support/http/event-stream-client.ts";
import { NO_LIMITS } from "../../support/http/no-limits.ts";
import { startTestApi, type TestApi } from "../../support/http/test-api.ts";
import { MEMORY_DEPLOYMENT } from "../../support/index/memory-index.ts";
import { runsOf } from "../../support/test-depth.ts";
import { CHAIN_STEPS, type ChainEvent, EventIndex, OWNERS } from "./event-index.ts";
import { EventModel } from "./event-model.ts";

let index: EventIndex;
let api: TestApi;
const opened: EventStreamClient[] = [];

beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});
beforeEach(() => index.reset());
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

type OpenOptions = NonNullable<Parameters<typeof openEventStreamClient>[1]>;

async function open(query = "", options: OpenOptions = {}, url = api.url): Promise<EventStreamClient> {
  const client = await openEventStreamClient(`${url}/events${query}`, options);
  opened.push(client);
  return client;
}

/** Runs with an API of its own. */
async function withApi(
  limits: Partial<EventStreamLimits>,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const other = await startTestApi(index.database, { eventStreams: limits });
  try {
    await run(other.url);
  } finally {
    for (const client of opened.splice(0)) client.close();
    await other.close();
  }
}

const PATIENCE = { timeout: 15_000, interval: 10 };
const waitFor = (check: () => void | Promise<void>) => vi.waitFor(check, PATIENCE);
const namesOf = ({ messages }: EventStreamClient) => messages.map(({ event }) => event);
const parse = ({ data }: StreamMessage) => JSON.parse(data) as Record<string, unknown>;

/** A client that connects again from its last id. */
class FollowingClient {
  readonly model = new EventModel();
  readonly #query: string;
  #stream: EventStreamClient | null = null;
  #lastEventId = "";

  constructor(query: string) {
    this.#query = query;
  }

  async connect(url = api.url): Promise<void> {
    this.disconnect();
    // Messages that the old connection has not delivered are lost, as they are when a network fails.
    const current: { isCurrent: boolean } = { isCurrent: true };
    this.#end = () => {
      current.isCurrent = false;
    };
    this.#stream = await open(
      this.#query,
      {
        lastEventId: this.#lastEventId,
        onMessage: (message) => {
          if (current.isCurrent) this.#receive(message);
        },
      },
      url,
    );
    expect(this.#stream.status).toBe(200);
  }

  #end: () => void = () => undefined;

  disconnect(): void {
    this.#end();
    this.#stream?.close();
    this.#stream = null;
  }

  #receive(message: StreamMessage): void {
    const record = parse(message) as never;
    if (message.event === "message") this.model.append(record);
    else if (message.event === "undo") this.model.undo(record);
    else if (message.event === "progress") this.model.progress(record);
    else throw new Error(`unexpected ${message.event}: ${message.data}`);
    if (message.id !== undefined) this.#lastEventId = message.id;
  }
}

const idsOf = (events: readonly ChainEvent[]) => events.map(({ id }) => id);

describe("a stream", () => {
  it("streams the history, then what happens, and the progress", async () => {
    await index.extend([1, 0, 2], 8);
    const client = await open("?from=genesis");
    expect(client.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "access-control-allow-origin": "*",
    });
    await waitFor(() => expect(namesOf(client)).toEqual(["message", "message", "message", "progress"]));
    await index.extend([1], 8);
    await waitFor(() => expect(namesOf(client).slice(4)).toEqual(["message", "progress"]));
    await index.extend([0], 1);
    await waitFor(() => expect(namesOf(client).slice(6)).toEqual(["progress"]));
    const events = client.messages.filter(({ event }) => event === "message");
    expect(events.map((each) => parse(each).id)).toEqual(idsOf(index.events()));
    for (const message of client.messages) expect(parse(message).cursor).toBe(message.id);
    expect(parse(client.messages.at(-1) as StreamMessage)).toMatchObject({
      block_number: "5",
      indexed_block: "5",
      finalized_block: "4",
    });
  });

  it("begins a stream at the head by default, with an id to resume from at once", async () => {
    await index.extend([1, 1], 8);
    const client = await open();
    await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
    client.close();
    await index.extend([2], 8);
    const resumed = await open("", { lastEventId: client.lastEventId });
    await waitFor(() => expect(namesOf(resumed)).toEqual(["message", "message", "progress"]));
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "undoes %i blocks in a stream before it sends the new branch",
    async (depth) => {
      await index.extend([1, 0, 1, 1, 0, 1], 6);
      const client = await open("?from=genesis");
      await waitFor(() => expect(namesOf(client).at(-1)).toBe("progress"));
      const before = client.messages.length;
      await index.rollback(depth);
      const ancestor = index.head;
      await index.extend(Array.from({ length: depth }, () => 1));
      await waitFor(() => {
        const last = client.messages.slice(before).at(-1);
        expect(last && [last.event, parse(last).block_number]).toEqual(["progress", "6"]);
      });
      const [undo, ...others] = client.messages.slice(before);
      expect(undo?.event).toBe("undo");
      expect(parse(undo as StreamMessage).block_number).toBe(String(ancestor));
      const events = others.filter(({ event }) => event === "message").map((each) => parse(each).id);
      expect(events).toEqual(idsOf(index.events()).slice(-depth));
    },
  );

  it("streams final events only once they are final, and never undoes them", async () => {
    const client = await open("?from=genesis&finality=finalized");
    await index.extend([1, 1, 1], 3);
    await index.rollback(3);
    await index.extend([1, 1, 1, 1], 2);
    await waitFor(() => expect(namesOf(client).filter((name) => name === "message")).toHaveLength(2));
    await index.extend([0, 0], 0);
    await waitFor(() => expect(parse(client.messages.at(-1) as StreamMessage).block_number).toBe("6"));
    expect(namesOf(client)).not.toContain("undo");
    const events = client.messages.filter(({ event }) => event === "message");
    expect(events.map((each) => parse(each).id)).toEqual(idsOf(index.events()));
  });

  it("responds to HEAD with headers only, and uses no slot of a stream", async () => {
    await withApi({ streamsMax: 1 }, async (url) => {
      const headers = { accept: "text/event-stream" };
      for (let times = 0; times < 3; times += 1) {
        const response = await fetch(`${url}/events`, { method: "HEAD", headers });
        expect([response.status, await response.text()]).toEqual([200, ""]);
        expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      }
    });
  });

  it("undoes the branch in between, and repeats events of a returning branch with their ids", async () => {
    await index.extend([1, 1, 2], 8);
    const client = new FollowingClient("?from=genesis");
    await client.connect();
    const first = idsOf(index.events());
    await waitFor(() => expect(client.model.ids).toEqual(first));
    await index.rollback(2);
    await index.extend([1, 0, 1]);
    await waitFor(() => expect(client.model.ids).toEqual(idsOf(index.events())));
    await index.returnToRemoved();
    await waitFor(() => expect(client.model.ids).toEqual(first));
    expect(client.model.undoCount).toBe(2);
  });

  it("advances the cursor of a stream whose filter lets nothing pass", async () => {
    const client = await open(`?from=genesis&type=AgentRevoked&account=${OWNERS[0]}`);
    await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
    await index.extend([3], 8);
    await waitFor(() => expect(namesOf(client)).toEqual(["progress", "progress"]));
    expect(client.messages[0]?.id).not.toBe(client.messages[1]?.id);
  });
});

describe("a client that reads slowly", () => {
  const limits = { bufferBytesMax: 16_384, stalledMsMax: 60_000 };
  const large = "x".repeat(100_000);

  it("delays no other client by a slow one, which misses nothing once it reads", async () => {
    await withApi(limits, async (url) => {
      const slow = await open("?from=head", {}, url);
      const quick = await open("?from=head", {}, url);
      await waitFor(() => expect([...namesOf(slow), ...namesOf(quick)]).toEqual(["progress", "progress"]));
      slow.pause();
      // Far more than the system's own buffers take.
      for (let block = 0; block < 10; block += 1) await index.extendWithLargeEvents(12, large);
      const countOf = (client: EventStreamClient) =>
        namesOf(client).filter((name) => name === "message").length;
      await waitFor(() => expect(countOf(quick)).toBe(120));
      expect(countOf(slow)).toBeLessThan(120);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('sextant_event_streams{state="live"} 1');
      expect(metrics).toContain('sextant_event_streams{state="behind"} 1');
      slow.resume();
      await waitFor(() => expect(countOf(slow)).toBe(120));
      expect(slow.messages.map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)).toEqual([]);
      await index.extend([1]);
      await waitFor(() => expect(countOf(slow)).toBe(121));
    });
  });

  it("closes a stream that is not read for too long, to be resumed by its last id", async () => {
    await withApi({ ...limits, stalledMsMax: 200 }, async (url) => {
      const slow = await open("?from=genesis", {}, url);
      slow.pause();
      for (let block = 0; block < 10; block += 1) await index.extendWithLargeEvents(12, large);
      await waitFor(async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        expect(metrics).toContain("sextant_event_streams_cut_total 1");
      });
      slow.resume();
      await slow.ended;
      const resumed = await open("?from=genesis", { lastEventId: slow.lastEventId }, url);
      await waitFor(() => expect(namesOf(resumed).at(-1)).toBe("progress"));
      const events = [...slow.messages, ...resumed.messages].filter(({ event }) => event === "message");
      expect(events.map((each) => parse(each).id)).toEqual(idsOf(index.events()));
    });
  });
});

describe("limits", () => {
  it("limits the streams of a client and of all", async () => {
    await withApi({ streamsMax: 3, streamsPerClientMax: 2 }, async (url) => {
      const first = await open("", {}, url);
      await open("", {}, url);
      const third = await open("", {}, url);
      expect([third.status, third.headers["x-error-code"], third.headers["retry-after"]]).toEqual([
        429,
        "RATE_LIMITED",
        "5",
      ]);
      first.close();
      await waitFor(async () => expect((await open("", {}, url)).status).toBe(200));
    });
    await withApi({ streamsMax: 1, streamsPerClientMax: 2 }, async (url) => {
      await open("", {}, url);
      const second = await open("", {}, url);
      expect([second.status, second.headers["x-error-code"]]).toEqual([503, "OVERLOADED"]);
    });
  });

  it("keeps a quiet stream alive by comments", async () => {
    await withApi({ keepAliveMs: 30 }, async (url) => {
      const client = await open("", {}, url);
      await waitFor(() => expect(client.comments.length).toBeGreaterThan(2));
      await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
    });
  });
});

describe("a cursor that cannot be resumed", () => {
  const foreign = formatCursor({
    deployment: identifyDeployment({ chainId: 8453, startBlock: 1, contracts: {} }),
    ...{ block: 1, hash: `0x${"11".repeat(32)}`, logIndex: 0, finalized: 0, lastLogBlock: null },
  });

  it.each([
    ["foreign, as the last id", "", foreign, "CURSOR_FOREIGN"],
    ["foreign, as from", `?from=${foreign}`, "", "CURSOR_FOREIGN"],
    ["damaged, as the last id", "", "nonsense", "INPUT_INVALID"],
    ["damaged, as from", `?from=${"A".repeat(foreign.length)}`, "", "INPUT_INVALID"],
  ])(
    "rejects a cursor by a message that makes the client forget it: %s",
    async (_what, query, lastEventId, code) => {
      const client = await open(query, { lastEventId });
      await client.ended;
      expect(client.status).toBe(200);
      expect(client.messages).toEqual([{ event: "rejected", id: "", data: expect.stringContaining(code) }]);
      expect(client.retryMs).toBe(60_000);
      expect(client.lastEventId).toBe("");
    },
  );

  it.each(["-1", "0x1", "latest", "1e3", "", "nonsense", "9".repeat(30)])(
    "responds 400 to %j as a cursor",
    async (text) => {
      const client = await open(`?from=${encodeURIComponent(text)}`);
      await client.ended;
      expect([client.status, client.headers["x-error-code"]]).toEqual([400, "INPUT_INVALID"]);
    },
  );
});

describe("shutdown", () => {
  it("asks clients to connect again, and ends their streams, at shutdown", async () => {
    const other = await startTestApi(index.database);
    const clients = await Promise.all(Array.from({ length: 5 }, () => open("", {}, other.url)));
    for (const client of clients) await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
    await other.close();
    for (const client of clients) {
      await client.ended;
      expect(client.retryMs).toBeGreaterThanOrEqual(500);
      expect(client.retryMs).toBeLessThanOrEqual(5_000);
    }
  });
});

/** Runs with streams of which every statement is counted. */
async function withCountedReads(
  run: (counted: {
    readonly url: string;
    /** Tells of a change, and resolves with the number of statements until `check` passes. */
    readonly countReads: (check: () => void) => Promise<number>;
  }) => Promise<void>,
): Promise<void> {
  const reader = openPipelinedReader(index.database);
  let reads = 0;
  const counting = {
    read: ((statement, use) => {
      reads += 1;
      return reader.read(statement, use);
    }) as typeof reader.read,
  };
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const readEvents = createEventReader({
    run: openIndexReader({ quick: counting, slow: counting }).read,
    readDeployment: () => readDeploymentIdentity(index.database),
  });
  const repeatLimit = createLogThrottle();
  const metrics = createEventMetrics(new Registry(), systemClock);
  // A poll would count as well.
  const limits = { ...EVENT_STREAM_LIMITS, pollMs: 3_600_000, streamsPerClientMax: 1_000 };
  const streams = new EventStreams({ readEvents, limits, metrics, clock: systemClock, log, repeatLimit });
  const server = createHttpServer({
    ...NO_LIMITS,
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 10_000,
    checkReadiness: async () => ({ ready: true }),
  });
  addEndpointRoutes(server.app, [createEventsEndpoint({ readEvents, streams })]);
  server.app.addHook("preClose", async () => streams.close());
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "" });
  const countReads = async (check: () => void) => {
    reads = 0;
    streams.onChange();
    await waitFor(check);
    return reads;
  };
  try {
    await run({ url, countReads });
  } finally {
    await server.close();
    repeatLimit.close();
    await reader.close();
  }
}

describe("any number of streams", () => {
  it("reads the database once per change for any number of streams", async () => {
    await withCountedReads(async ({ url, countReads }) => {
      const clients = await Promise.all(Array.from({ length: 40 }, () => open("?from=head", {}, url)));
      for (const client of clients) await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
      // The last ones may still be joining.
      await pause(100);
      for (let block = 1; block <= 3; block += 1) {
        await index.extend([1]);
        const reads = await countReads(() => {
          for (const client of clients) expect(namesOf(client)).toHaveLength(1 + 2 * block);
        });
        expect(reads).toBe(1);
      }
    });
  });

  it("shares one read per change although one stream waits for a block far ahead", async () => {
    await index.extend([1], 8);
    await withCountedReads(async ({ url, countReads }) => {
      const ahead = formatCursor({
        deployment: identifyDeployment(MEMORY_DEPLOYMENT),
        ...{ block: 1_000_000, hash: `0x${"11".repeat(32)}`, logIndex: 0, finalized: 0, lastLogBlock: null },
      });
      const waiting = await open("", { lastEventId: ahead }, url);
      await waitFor(() => expect(namesOf(waiting)).toEqual(["progress"]));
      await pause(100);
      const clients = await Promise.all(Array.from({ length: 10 }, () => open("?from=head", {}, url)));
      for (const client of clients) await waitFor(() => expect(namesOf(client)).toEqual(["progress"]));
      await pause(100);
      for (let block = 1; block <= 3; block += 1) {
        await index.extend([1]);
        const reads = await countReads(() => {
          for (const client of [waiting, ...clients]) expect(client.messages.length).toBeGreaterThan(block);
          for (const client of clients) expect(namesOf(client)).toHaveLength(1 + 2 * block);
        });
        // One for all, one of the one that waits, and a look of the tail when that one joins again.
        expect(reads).toBeLessThanOrEqual(3);
      }
      expect(new Set(namesOf(waiting))).toEqual(new Set(["progress"]));
    });
  });
});

const CLIENTS: readonly { readonly query: string; readonly passes: (event: ChainEvent) => boolean }[] = [
  { query: "?from=genesis", passes: () => true },
  { query: "?from=genesis&type=IntentCancelled", passes: ({ type }) => type === "IntentCancelled" },
  {
    query: `?from=genesis&account=${OWNERS[1]}`,
    passes: ({ owner }) => owner === OWNERS[1],
  },
  { query: "?from=genesis&finality=safe", passes: () => true },
  { query: "?from=genesis&finality=finalized", passes: () => true },
];

const step = fc.oneof(
  ...CHAIN_STEPS,
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("reconnect" as const), client: fc.nat(CLIENTS.length - 1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("disconnect" as const), client: fc.nat(CLIENTS.length - 1) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("pause" as const), ms: fc.constantFrom(0, 1, 5, 20) }),
  },
);

describe("any number of reorgs, lost connections and restarts", () => {
  it("leaves every client with the chain's events after reorgs, lost connections and restarts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        await index.reset();
        let current = await startTestApi(index.database);
        try {
          const clients = CLIENTS.map(({ query }) => new FollowingClient(query));
          for (const client of clients) await client.connect(current.url);
          for (const each of steps) {
            if (each.kind === "extend") await index.extend(each.counts, each.unsettled);
            else if (each.kind === "rollback") await index.rollback(each.depth);
            else if (each.kind === "return") await index.returnToRemoved();
            else if (each.kind === "reconnect") await clients[each.client]?.connect(current.url);
            else if (each.kind === "disconnect") clients[each.client]?.disconnect();
            else if (each.kind === "pause") await pause(each.ms);
            else {
              await current.close();
              current = await startTestApi(index.database);
              for (const client of clients) await client.connect(current.url);
            }
          }
          await index.extend([1], 2);
          for (const client of clients) await client.connect(current.url);
          for (const [at, { query, passes }] of CLIENTS.entries()) {
            const finality = FINALITIES.find((each) => query.endsWith(each)) ?? "instant";
            const { model } = clients[at] as FollowingClient;
            await waitFor(() => {
              const upTo = index.upTo(finality, model.complete);
              expect(model.complete).toBe(upTo);
              expect(model.ids).toEqual(idsOf(index.events(upTo).filter(passes)));
            });
            if (finality === "finalized") expect(model.undoCount).toBe(0);
          }
          for (const client of clients) client.disconnect();
        } finally {
          await current.close();
        }
      }),
      { numRuns: runsOf(80) },
    );
  }, 600_000);
});
