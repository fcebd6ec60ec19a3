// GET /events as pages, over a simulated history: every log of the protocol, explained as /tx/:hash/explain explains it.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  EVENT_SUBJECTS,
  EVENT_TYPES,
  type EventSubject,
  topicsOf,
} from "../../../src/protocol/event-filter.ts";
import { openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { SHARED_HISTORY_MS_MAX } from "../../support/index/simulated-history.ts";
import { isFullDepth } from "../../support/test-depth.ts";
import { openReadStage, type ReadStage } from "../api-stage.ts";
import { tellConcerns } from "./event-concerns.ts";

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

/** The same read backwards, in the order of the chain. */
async function readBack(query: string, limit = 1_000): Promise<readonly EventRecord[]> {
  const events: EventRecord[] = [];
  for (let from = "head"; ; ) {
    const page = await stage.body<Page>(`/events?order=desc&limit=${limit}&from=${from}${query}`);
    events.push(...page.events);
    from = page.progress.cursor;
    if (!page.has_more) return events.reverse();
  }
}

const idsOf = (events: readonly EventRecord[]) => events.map(({ id }) => id);

describe("the pages of all events", () => {
  it("names the block and hash of the index in each page, as JSON and as lines", async () => {
    const head = await stage.get("/head");
    const expected = [head.headers.get("x-indexed-block"), head.headers.get("x-indexed-block-hash")];
    expect(expected[1]).toMatch(/^0x[0-9a-f]{64}$/);
    for (const accept of ["application/json", "application/x-ndjson"]) {
      const { headers } = await fetch(`${stage.url}/events?limit=1`, { headers: { accept } });
      expect([headers.get("x-indexed-block"), headers.get("x-indexed-block-hash")]).toEqual(expected);
    }
  });

  it("returns every stored log once, in order", async () => {
    const rows = await stage.rows(
      "select '0x' || encode(b.hash, 'hex') || '-' || l.log_index as id from logs l join blocks b on b.number = l.block_number order by l.block_number, l.log_index",
    );
    expect(all.length).toBeGreaterThan(500);
    expect(idsOf(all)).toEqual(rows.map(({ id }) => id));
    expect(idsOf(await readAll("", 7))).toEqual(idsOf(all));
  });

  it("returns every type of event", () => {
    const types = [...new Set(all.map(({ type }) => type))].sort();
    // The signing domain of the intent book changes only when the contract is replaced.
    expect(types).toEqual(EVENT_TYPES.filter((name) => name !== "EIP712DomainChanged"));
  });

  it("explains each event as its transaction does", async () => {
    for (const event of all.filter((_, at) => at % 40 === 0)) {
      const { events } = await stage.body<{ events: readonly Record<string, unknown>[] }>(
        `/tx/${event.tx_hash}/explain`,
      );
      const { type: eventName, args, description } = event;
      expect(events).toContainEqual({ eventName, args, description });
    }
  });

  it("continues after the cursor of any event", async () => {
    for (const at of [0, 1, Math.floor(all.length / 2), all.length - 1]) {
      const { events } = await stage.body<Page>(`/events?limit=3&from=${all[at]?.cursor}`);
      expect(idsOf(events)).toEqual(idsOf(all.slice(at + 1, at + 4)));
    }
  });

  it("begins with a given block, and ends at the final one", async () => {
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

describe("the pages of all events backwards", () => {
  it("returns every event once, the newest first, from the head by default", async () => {
    expect(idsOf(await readBack(""))).toEqual(idsOf(all));
    expect(idsOf(await readBack("", 7))).toEqual(idsOf(all));
    const { events } = await stage.body<Page>("/events?order=desc&limit=3");
    expect(idsOf(events)).toEqual(idsOf(all.slice(-3).toReversed()));
    const at = Math.floor(all.length / 2);
    const from = `from=${all[at]?.block_number}&limit=5`;
    const upTo = all.filter(({ block_number }) => Number(block_number) <= Number(all[at]?.block_number));
    const { events: earlier } = await stage.body<Page>(`/events?order=desc&${from}`);
    expect(idsOf(earlier)).toEqual(idsOf(upTo.slice(-5).toReversed()));
  });

  it("has the same rows with each event as in the order of the chain", async () => {
    const [forwards, backwards] = [await readAll("&include=rows", 100), await readBack("&include=rows", 100)];
    const rowsOf = (events: readonly EventRecord[]) =>
      events.map((event) => [event.id, (event as { rows?: unknown }).rows]);
    expect(rowsOf(backwards)).toEqual(rowsOf(forwards));
  }, 60_000);

  it("is only for pages", async () => {
    const response = await fetch(`${stage.url}/events?order=desc`, {
      headers: { accept: "text/event-stream" },
    });
    expect([response.status, response.headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
    expect(await response.text()).toContain("A stream goes forwards");
  });
});

describe("a filter", () => {
  it("matches by filter what the table in docs/events.md says", () => {
    const page = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");
    const canMatch = (type: string, subject: EventSubject) =>
      topicsOf({ types: [type], subjects: { [subject]: "1" } })?.length !== 0;
    const listed = (types: readonly string[]) => types.map((type) => `\`${type}\``).join(", ");
    for (const subject of Object.keys(EVENT_SUBJECTS) as EventSubject[]) {
      const found = EVENT_TYPES.filter((type) => canMatch(type, subject));
      const others = EVENT_TYPES.filter((type) => !canMatch(type, subject));
      const cell = others.length < 5 ? `all but ${listed(others)}` : listed(found);
      expect(page).toContain(`\n| \`${subject}\` | ${cell} |\n`);
    }
  });

  it.each(EVENT_TYPES)("returns all events of type %s", async (type) => {
    const expected = all.filter((event) => event.type === type);
    expect(idsOf(await readAll(`&type=${type}`))).toEqual(idsOf(expected));
    expect(idsOf(await readBack(`&type=${type}`))).toEqual(idsOf(expected));
  });

  it("returns all events of several types", async () => {
    const expected = all.filter(({ type }) => type === "AgentRegistered" || type === "IntentFilled");
    expect(idsOf(await readAll("&type=AgentRegistered,IntentFilled"))).toEqual(idsOf(expected));
  });

  it.each(["agent", "intent", "account", "merchant", "service", "solver"] as const)(
    "returns every event about a given %s, also if only rows show it",
    async (subject) => {
      const concerns = tellConcerns(all);
      const about = (value: string) => all.filter((_, at) => concerns[at]?.[subject].has(value));
      const values = [...new Set(concerns.flatMap((each) => [...each[subject]]))];
      // For each type of event one thing that it is about, and a few more.
      const wanted = new Set(values.filter((_, at) => at % (isFullDepth() ? 25 : 100) === 0));
      for (const type of EVENT_TYPES) {
        const at = all.findLastIndex(
          (event, place) => event.type === type && concerns[place]?.[subject].size,
        );
        for (const value of concerns[at]?.[subject] ?? []) wanted.add(value);
      }
      expect(wanted.size).toBeGreaterThan(1);
      for (const [at, value] of [...wanted].entries()) {
        const orders = isFullDepth() ? [readAll, readBack] : [at % 2 === 0 ? readAll : readBack];
        for (const read of orders) {
          expect(idsOf(await read(`&${subject}=${value}`)), value).toEqual(idsOf(about(value)));
        }
      }
    },
  );

  it("accepts an account in any letter case", async () => {
    const account = String(all.findLast(({ type }) => type === "SessionKeyExecuted")?.address);
    const upper = `0x${account.slice(2).toUpperCase()}`;
    expect(idsOf(await readAll(`&account=${upper}`))).toEqual(idsOf(await readAll(`&account=${account}`)));
  });

  it("returns events that match all of several filters", async () => {
    const bid = all.find(({ type }) => type === "SolverBidSubmitted");
    const { intentId, solver } = bid?.args ?? {};
    const concerns = tellConcerns(all);
    const expected = all.filter((_, at) => {
      const about = concerns[at];
      return about?.intent.has(String(intentId)) && about.solver.has(String(solver));
    });
    expect(expected.length).toBeGreaterThan(0);
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
    "order=newest",
    "limit=0",
    "limit=-1",
    "limit=1.5",
    "from=tomorrow",
    "from=99999999",
    "from=1&from=2",
  ])("rejects a filter without meaning: %s", async (query) => {
    const { status, headers } = await stage.get(`/events?${query}`);
    expect([status, headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
  });
});

describe("the parts of descriptions", () => {
  type Part = { readonly kind: string; readonly text: string; readonly token?: string | null };
  const partsOf = (event: EventRecord | undefined) => (event as { parts?: readonly Part[] }).parts ?? [];

  it("every description is the join of its parts, which come only if requested", async () => {
    const events = await readAll("&include=parts");
    const texts = (event: EventRecord) => partsOf(event).map(({ text }) => text);
    expect(events.map((event) => texts(event).join(""))).toEqual(
      events.map(({ description }) => description),
    );
    // Only submitted intents say more, of their row.
    const isSubmission = ({ type }: EventRecord) => type === "IntentSubmitted";
    for (const [index, event] of events.entries()) {
      const plain = all[index]?.description ?? "";
      if (isSubmission(event)) expect(event.description.startsWith(`${plain} to swap up to `)).toBe(true);
      else expect(event.description).toBe(plain);
    }
    expect(all.every((event) => !("parts" in event))).toBe(true);
    const [both] = (await stage.body<Page>("/events?limit=1&include=rows,parts")).events;
    expect(Object.keys(both ?? {}).slice(-2)).toEqual(["rows", "parts"]);
  });

  it("the parts name the tokens of the intent in bids and fills, in both orders", async () => {
    const query = "type=SolverBidSubmitted,IntentFilled&include=parts&limit=6";
    for (const order of ["asc", "desc"]) {
      const { events } = await stage.body<Page>(`/events?${query}&order=${order}`);
      expect(events).toHaveLength(6);
      for (const event of events) {
        const intent = await stage.body<Record<string, string>>(`/intents/${event.args.intentId}`);
        const amounts = partsOf(event).filter(({ kind }) => kind === "amount");
        const tokens = [intent.input_token, intent.output_token];
        // The contract names no token of a bid's fee.
        const fee = event.type === "SolverBidSubmitted" ? [null] : [];
        expect(amounts.map(({ token }) => token)).toEqual([...tokens, ...fee]);
      }
    }
  });

  it("the parts name the amounts of a submitted intent, and a filter that reads its row does not", async () => {
    const { events } = await stage.body<Page>("/events?type=IntentSubmitted&include=parts&limit=3");
    expect(events).toHaveLength(3);
    for (const event of events) {
      const intent = await stage.body<Record<string, string>>(`/intents/${event.args.intentId}`);
      expect(partsOf(event).filter(({ kind }) => kind === "amount")).toMatchObject([
        { amount: intent.amount_in_max, token: intent.input_token },
        { amount: intent.amount_out_min, token: intent.output_token },
      ]);
      const query = `type=IntentSubmitted&agent=${intent.owner}&limit=1`;
      const [filtered] = (await stage.body<Page>(`/events?${query}`)).events;
      expect(filtered?.description).toMatch(/submitted by 0x[0-9a-f]{40}$/);
    }
  });

  it("the parts come in a stream as in a page", async () => {
    const [first] = (await stage.body<Page>("/events?limit=1&type=IntentFilled&include=parts")).events;
    const url = `${stage.url}/events?from=genesis&type=IntentFilled&include=parts`;
    const data = await new Promise<string>((resolve, reject) => {
      const client = openEventStreamClient(url, { onMessage: (message) => resolve(message.data) });
      client.then(({ close }) => setTimeout(close, 2_000), reject);
    });
    expect(partsOf(first)).not.toEqual([]);
    expect(JSON.parse(data)).toEqual(first);
  });
});

describe("lines of JSON", () => {
  it.each(["asc", "desc"])(
    "sends lines of JSON with the same records, then the progress: %s",
    async (order) => {
      const page = await stage.body<Page>(`/events?limit=3&order=${order}`);
      const response = await fetch(`${stage.url}/events?limit=3&order=${order}`, {
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
    },
  );
});
