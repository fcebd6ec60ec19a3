// include=rows: every event has the rows that it changed, as the stored versions and the reference model have them.
// In main, read-events.test.ts and rows-limits.test.ts read single pages with their rows.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { Random } from "@sextant/simulator/random";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createSextant } from "../../../packages/client/create-sextant.ts";
import { createEventReader, type ReadEvents } from "../../../src/api/events/read-events.ts";
import { tables } from "../../../src/protocol/domains.ts";
import type { EventRecord } from "../../../src/protocol/event-page.ts";
import { VERSIONED_TABLES } from "../../../src/protocol/event-page.ts";
import { openPipelinedReader, type PipelinedReader } from "../../../src/store/fast/pipelined-reader.ts";
import { readDeploymentIdentity } from "../../../src/store/index/prepare.ts";
import { openIndexReader } from "../../../src/store/index/reader.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { foldIntoModel } from "../../reference-model/fold-events.ts";
import { FORK_DEPTH, reachHead, setStage, startIndexing } from "../../reference-model/index-equals-model.ts";
import { type ModelEvent, readModelEvents } from "../../reference-model/model-events.ts";
import { openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { startTestApi } from "../../support/http/test-api.ts";
import { SHARED_HISTORY_MS_MAX } from "../../support/index/simulated-history.ts";
import { startSextantInProcess } from "../../support/process/run-in-process.ts";
import { casesOf, isFullDepth } from "../../support/test-depth.ts";
import { openReadStage, type ReadStage } from "../api-stage.ts";
import { type EventWithRows, RowClient, textOf } from "./row-client.ts";

const EVERYTHING = { types: null, subjects: {} };
const VERSIONED_NAMES = VERSIONED_TABLES.map(({ name }) => name);
// The shared history below has every table.
const STEPS = isFullDepth() ? 160 : 60;

function openReader(database: Database): {
  readonly readEvents: ReadEvents;
  readonly pipelined: PipelinedReader;
} {
  const pipelined = openPipelinedReader(database);
  const { read } = openIndexReader({ quick: pipelined, slow: pipelined });
  return {
    readEvents: createEventReader({ run: read, readDeployment: () => readDeploymentIdentity(database) }),
    pipelined,
  };
}

/** Reads pages of so many events to the end; returns the cursor to go on from. */
async function readToEnd(
  readEvents: ReadEvents,
  client: RowClient,
  { cursor = "", limit = 100 }: { readonly cursor?: string; readonly limit?: number } = {},
): Promise<string> {
  for (let last = cursor; ; ) {
    const from = last === "" ? { end: "genesis" as const } : { cursor: last };
    const page = await readEvents({
      from,
      filter: EVERYTHING,
      finality: "instant",
      limit,
      client: null,
      rows: true,
    });
    if (page.undo) client.undo(page.undo);
    for (const { record } of page.events) client.apply(record);
    last = page.progress.cursor;
    if (!page.hasMore) return last;
  }
}

type PlainRow = EventWithRows["rows"][number]["after"];
type ComparedChange = { readonly table: string; readonly before: PlainRow | null; readonly after: PlainRow };

/**
 * The model knows the capabilities of a new agent from a view at the end of the block. If the agent is updated in the
 * same block, they are compared by the stored version only.
 */
function withoutLaterView(changes: readonly ComparedChange[], hasUpdate: boolean): readonly string[] {
  const comparable = (table: string, row: PlainRow) =>
    textOf(hasUpdate && table === "agents" ? { ...row, capabilities_hash: "" } : row);
  return changes
    .map(({ table, before, after }) => [table, before && comparable(table, before), comparable(table, after)])
    .filter(([, before, after]) => before !== after)
    .map((change) => JSON.stringify(change))
    .sort();
}

/** Each event changes exactly what it changes in the model; totals without history are not compared. */
function expectModelChanges(events: readonly EventWithRows[], modelled: readonly ModelEvent[]): void {
  expect(events.map(({ block_number, log_index }) => `${block_number} ${log_index}`)).toEqual(
    modelled.map(({ block, logIndex }) => `${block} ${logIndex}`),
  );
  const model = foldIntoModel([], 0);
  const known = new Map(VERSIONED_NAMES.map((name) => [name, model.rows(name)]));
  const updated = new Set(modelled.flatMap(({ event, block }) => (event === "AgentUpdated" ? [block] : [])));
  for (const [at, event] of modelled.entries()) {
    model.apply(event);
    const expected: ComparedChange[] = [];
    for (const table of VERSIONED_NAMES) {
      // A map keeps the place of a row that is replaced.
      const rows = known.get(table) ?? [];
      known.set(table, model.rows(table));
      for (const [place, after] of model.rows(table).entries()) {
        if (after !== rows[place]) expected.push({ table, before: rows[place] ?? null, after });
      }
    }
    const hasUpdate = updated.has(event.block);
    expect(
      withoutLaterView(events[at]?.rows ?? [], hasUpdate),
      `${event.event} in block ${event.block}`,
    ).toEqual(withoutLaterView(expected, hasUpdate));
  }
}

describe.each(casesOf(21, 22, 23))("a simulated chain with a fork (seed %i)", (seed) => {
  it("sends pages and a live stream the rows of the model, also of the new branch", async () => {
    const random = new Random(seed);
    const stage = await setStage(seed, STEPS);
    const index = await startIndexing(stage);
    const api = await startTestApi(index.database);
    const { readEvents, pipelined } = openReader(index.database);
    const live = new RowClient();
    const stream = await openEventStreamClient(`${api.url}/events?from=genesis&include=rows`, {
      onMessage: ({ event, data }) => {
        if (event === "message") live.apply(JSON.parse(data) as EventRecord);
        else if (event === "undo") live.undo(JSON.parse(data) as { block_number: string });
      },
    });
    try {
      await stage.play();
      await reachHead(stage, index);
      const paged = new RowClient();
      const cursor = await readToEnd(readEvents, paged, { limit: 7 });
      await paged.expectStoredVersions(index.database);
      expectModelChanges(paged.events, await readModelEvents(stage.chain.request, stage.deployment));
      const blocks = paged.events.map(({ block_number }) => block_number);
      expect(new Set(blocks).size, "several events in a block").toBeLessThan(blocks.length);

      await vi.waitFor(() => expect(live.events.at(-1)?.id).toBe(paged.events.at(-1)?.id), {
        timeout: 60_000,
      });
      await stage.chain.reorg(FORK_DEPTH, { replay: () => random.chance(50), blocks: FORK_DEPTH + 1 });
      await reachHead(stage, index);
      await readToEnd(readEvents, paged, { cursor });
      expect(paged.undoCount).toBe(1);
      await paged.expectStoredVersions(index.database);
      expectModelChanges(paged.events, await readModelEvents(stage.chain.request, stage.deployment));
      const fresh = new RowClient();
      await readToEnd(readEvents, fresh);
      expect(fresh.events.map(({ id, rows }) => ({ id, rows }))).toEqual(
        paged.events.map(({ id, rows }) => ({ id, rows })),
      );
      await vi.waitFor(
        () =>
          expect(live.events.map(({ id, rows }) => ({ id, rows }))).toEqual(
            fresh.events.map(({ id, rows }) => ({ id, rows })),
          ),
        { timeout: 60_000, interval: 200 },
      );
      expect(live.undoCount).toBeGreaterThan(0);
    } finally {
      stream.close();
      await pipelined.close();
      await api.close();
    }
  }, 300_000);
});

type Page = {
  readonly events: readonly EventRecord[];
  readonly progress: { readonly cursor: string };
  readonly has_more: boolean;
};

describe("a long history over HTTP", () => {
  let stage: ReadStage;
  const client = new RowClient();

  beforeAll(async () => {
    stage = await openReadStage();
    for (const event of await readAll("&include=rows&limit=100")) client.apply(event);
  }, SHARED_HISTORY_MS_MAX);
  afterAll(() => stage?.close());

  async function readAll(query: string): Promise<readonly EventRecord[]> {
    const events: EventRecord[] = [];
    for (let from = "genesis"; ; ) {
      const page = await stage.body<Page>(`/events?from=${from}${query}`);
      events.push(...page.events);
      from = page.progress.cursor;
      if (!page.has_more) return events;
    }
  }

  it("returns the stored versions of every table that keeps them", async () => {
    await client.expectStoredVersions(stage.database);
    expect(client.tables).toEqual([...VERSIONED_NAMES].sort());
  });

  it("leaves out the totals that docs/events.md names", () => {
    const text = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");
    const [, list = ""] = /^- Totals that keep no history are left out: ([^.]*)\./m.exec(text) ?? [];
    const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const recent = tables.filter(({ history }) => history === "recent").map(({ name }) => name);
    expect(named.sort()).toEqual(recent.sort());
  });

  it("returns the same events with rows as without", async () => {
    const plain = await readAll("&limit=1000");
    expect(plain.some((event) => "rows" in event)).toBe(false);
    expect(client.events.map(({ rows: _, ...event }) => event)).toEqual(plain);
  });

  it("shows the same rows of an event whatever the page, filter and finality", async () => {
    const byId = new Map(client.events.map((event) => [event.id, event.rows]));
    const queries = [
      "&limit=3&type=SolverBidSelected,FulfillmentRecorded",
      "&intent=3",
      "&finality=finalized",
    ];
    for (const query of queries) {
      const found = await readAll(`&include=rows${query}`);
      expect(found.length, query).toBeGreaterThan(0);
      for (const { id, rows } of found) expect(rows).toEqual(byId.get(id));
    }
  });

  it("returns at most a hundred events with rows in a page", async () => {
    const { events, has_more } = await stage.body<Page>("/events?include=rows&limit=1000");
    expect([events.length, has_more]).toEqual([100, true]);
  });

  it("sends the same rows as lines and as a stream", async () => {
    const { events } = await stage.body<Page>("/events?include=rows&limit=5");
    const headers = { accept: "application/x-ndjson" };
    const response = await fetch(`${stage.url}/events?include=rows&limit=5`, { headers });
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(events.map((event) => ({ event })));
    const stream = await openEventStreamClient(`${stage.url}/events?include=rows&from=genesis`);
    try {
      await vi.waitFor(() => expect(stream.messages.length).toBeGreaterThan(client.events.length), {
        timeout: 60_000,
      });
    } finally {
      stream.close();
    }
    const sent = stream.messages
      .filter(({ event }) => event === "message")
      .map(({ data }) => JSON.parse(data));
    expect(sent).toEqual(client.events);
  });

  it("shows the same rows through the client and on the command line", async () => {
    const wanted = client.events.slice(0, 5);
    const sextant = createSextant({ api: stage.url });
    const { events } = await sextant.readEvents({ include: "rows", limit: 5 });
    expect(events).toEqual(wanted);
    const watched: unknown[] = [];
    for await (const item of sextant.watch({}, { from: "genesis", include: "rows" })) {
      if (item.kind === "event") watched.push(item.event);
      if (watched.length === wanted.length) break;
    }
    expect(watched).toEqual(wanted);
    const keyboard = new EventEmitter();
    const environment = { SEXTANT_API_URL: stage.url, SEXTANT_DATA: "/nowhere" };
    const args = ["watch", "--include", "rows", "--from", "genesis", "--json"];
    const { written, ended } = startSextantInProcess(args, environment, undefined, null, keyboard);
    const lines = () => written.out.split("\n").slice(0, wanted.length);
    await vi.waitFor(() => expect(written.out.split("\n").length).toBeGreaterThan(wanted.length), {
      timeout: 20_000,
    });
    keyboard.emit("SIGINT", "SIGINT");
    await ended;
    expect(lines().map((line) => JSON.parse(line).event)).toEqual(wanted);
  });

  it.each(["include=", "include=everything", "include=rows,rows", "include=provenance"])(
    "rejects any include but rows: %s",
    async (query) => {
      const { status, headers } = await stage.get(`/events?${query}`);
      expect([status, headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
    },
  );
});
