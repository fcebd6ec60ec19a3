// GET /events as pages, over a simulated history: every log of the protocol, explained as /tx/:hash/explain explains it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../src/protocol/event-filter.ts";
import { SHARED_HISTORY_MS_MAX } from "../../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "../api-stage.ts";

type EventRecord = {
  readonly id: string;
  readonly type: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly address: string;
  readonly description: string;
  readonly tx_hash: string;
  readonly block_number: string;
  readonly log_index: number;
  readonly cursor: string;
};
type Page = {
  readonly undo: null;
  readonly events: readonly EventRecord[];
  readonly progress: { readonly cursor: string; readonly block_number: string };
  readonly has_more: boolean;
};

let stage: ReadStage;
let all: readonly EventRecord[];

beforeAll(async () => {
  stage = await openReadStage();
  all = await readAll("");
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

async function readAll(query: string, limit = 1_000): Promise<readonly EventRecord[]> {
  const events: EventRecord[] = [];
  for (let from = "genesis"; ; ) {
    const page = await stage.body<Page>(`/events?limit=${limit}&from=${from}${query}`);
    events.push(...page.events);
    from = page.progress.cursor;
    if (!page.has_more) return events;
  }
}

const idsOf = (events: readonly EventRecord[]) => events.map(({ id }) => id);

describe("the pages of all events", () => {
  it("have every stored log once, in order", async () => {
    const rows = await stage.rows(
      "select '0x' || encode(b.hash, 'hex') || '-' || l.log_index as id from logs l join blocks b on b.number = l.block_number order by l.block_number, l.log_index",
    );
    expect(all.length).toBeGreaterThan(500);
    expect(idsOf(all)).toEqual(rows.map(({ id }) => id));
    expect(idsOf(await readAll("", 7))).toEqual(idsOf(all));
  });

  it("have every type of event", () => {
    const types = [...new Set(all.map(({ type }) => type))].sort();
    // The signing domain of the intent book changes only when the contract is replaced.
    expect(types).toEqual(EVENT_TYPES.filter((name) => name !== "EIP712DomainChanged"));
  });

  it("explain each event as its transaction does", async () => {
    for (const event of all.filter((_, at) => at % 40 === 0)) {
      const { events } = await stage.body<{ events: readonly Record<string, unknown>[] }>(
        `/tx/${event.tx_hash}/explain`,
      );
      const { type: eventName, args, description } = event;
      expect(events).toContainEqual({ eventName, args, description });
    }
  });

  it("go on after any event", async () => {
    for (const at of [0, 1, Math.floor(all.length / 2), all.length - 1]) {
      const { events } = await stage.body<Page>(`/events?limit=3&from=${all[at]?.cursor}`);
      expect(idsOf(events)).toEqual(idsOf(all.slice(at + 1, at + 4)));
    }
  });

  it("begin with a block, and end at what is final", async () => {
    const block = Number(all[Math.floor(all.length / 2)]?.block_number);
    expect(idsOf(await readAll(""))).toEqual(idsOf(all));
    const { events } = await stage.body<Page>(`/events?limit=1000&from=${block}`);
    const later = all.filter(({ block_number }) => Number(block_number) >= block);
    expect(idsOf(events)).toEqual(idsOf(later.slice(0, events.length)));
    const { finalized_block } = await stage.first("select finalized_block from checkpoint");
    const final = all.filter(({ block_number }) => Number(block_number) <= Number(finalized_block));
    expect(final.length).toBeLessThan(all.length);
    expect(idsOf(await readAll("&finality=finalized"))).toEqual(idsOf(final));
  });
});

describe("a filter", () => {
  it.each(EVENT_TYPES)("by type has all of them: %s", async (type) => {
    const expected = all.filter((event) => event.type === type);
    expect(idsOf(await readAll(`&type=${type}`))).toEqual(idsOf(expected));
  });

  it("by several types has all of them", async () => {
    const expected = all.filter(({ type }) => type === "AgentRegistered" || type === "IntentFilled");
    expect(idsOf(await readAll("&type=AgentRegistered,IntentFilled"))).toEqual(idsOf(expected));
  });

  const names = (event: EventRecord, argument: string, value: string) => event.args[argument] === value;
  const isSignalAbout = (event: EventRecord, kind: string, id: string) =>
    event.type === "TrustSignalRecorded" &&
    names(event, "subjectType", kind) &&
    names(event, "subjectId", id);

  it.each<[string, string, (event: EventRecord, value: string) => boolean]>([
    ["agent", "agentId", (event, id) => names(event, "agentId", id) || isSignalAbout(event, "3", id)],
    ["agent", "agent", (event, address) => names(event, "agent", address)],
    ["intent", "intentId", (event, id) => names(event, "intentId", id)],
    [
      "merchant",
      "merchantId",
      (event, id) => names(event, "merchantId", id) || isSignalAbout(event, "0", id),
    ],
    ["merchant", "merchant", (event, address) => names(event, "merchant", address)],
    [
      "service",
      "serviceNumericId",
      (event, id) => names(event, "serviceNumericId", id) || isSignalAbout(event, "1", id),
    ],
    ["solver", "solverId", (event, id) => names(event, "solverId", id)],
    ["solver", "solver", (event, address) => names(event, "solver", address)],
  ])("by %s, as in %s, has what names it", async (parameter, argument, passes) => {
    const value = String(all.find((event) => event.args[argument] !== undefined)?.args[argument]);
    const expected = all.filter((event) => passes(event, value));
    expect(expected.length).toBeGreaterThan(0);
    expect(idsOf(await readAll(`&${parameter}=${value}`))).toEqual(idsOf(expected));
  });

  it("by account has everything that an address takes part in, in any letter case", async () => {
    const account = String(all.findLast(({ type }) => type === "SessionKeyExecuted")?.address);
    const isToken = (name: string) => name === "token" || name === "target";
    const expected = all.filter(
      (event) =>
        (event.type.startsWith("SessionKey") && event.address === account) ||
        Object.entries(event.args).some(([name, value]) => value === account && !isToken(name)),
    );
    expect(expected.length).toBeGreaterThan(1);
    const upper = `0x${account.slice(2).toUpperCase()}`;
    expect(idsOf(await readAll(`&account=${upper}`))).toEqual(idsOf(expected));
  });

  it("by several things has what matches all of them", async () => {
    const bid = all.find(({ type }) => type === "SolverBidSubmitted");
    const { intentId, solver } = bid?.args ?? {};
    const expected = all.filter(({ args }) => args.intentId === intentId && args.solver === solver);
    expect(idsOf(await readAll(`&intent=${intentId}&solver=${solver}`))).toEqual(idsOf(expected));
  });

  it.each([
    "type=Nothing",
    "type=",
    "type=IntentSubmitted,,",
    "intent=-1",
    "intent=0x1",
    "agent=alice",
    "account=1",
    "finality=soon",
    "limit=0",
    "limit=-1",
    "limit=1.5",
    "from=tomorrow",
    "from=99999999",
    "from=1&from=2",
  ])("is rejected if it means nothing: %s", async (query) => {
    const { status, headers } = await stage.get(`/events?${query}`);
    expect([status, headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
  });
});

describe("lines of JSON", () => {
  it("have the same records, and end with the progress", async () => {
    const page = await stage.body<Page>("/events?limit=3");
    const response = await fetch(`${stage.url}/events?limit=3`, {
      headers: { accept: "application/x-ndjson" },
    });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      ...page.events.map((event) => ({ event })),
      { progress: { ...page.progress, has_more: true } },
    ]);
  });
});
