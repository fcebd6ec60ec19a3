// Reads and pages as of a time: the last indexed block at or before it, by every way in, and errors that say what is wrong.
import { createSextant } from "@sextant/client/create-sextant";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { formatMoment } from "../../src/lib/moment.ts";
import { TOOL_CLIENTS } from "../mcp/tool-clients.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

type Block = { readonly number: number; readonly seconds: number };

let stage: ReadStage;
/** The blocks that the index keeps, ascending. */
let blocks: readonly Block[];
let middle: Block;
beforeAll(async () => {
  stage = await openReadStage();
  const rows = await stage.rows("select number, timestamp from blocks order by number");
  blocks = rows.map(({ number, timestamp }) => ({ number: Number(number), seconds: Number(timestamp) }));
  middle = blockAt(blocks[Math.floor(blocks.length / 2)]?.seconds ?? 0);
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

function blockAt(seconds: number): Block {
  const found = blocks.findLast((block) => block.seconds <= seconds);
  if (found === undefined) throw new Error("the time is before the first block");
  return found;
}

const ends = () => [blocks[0]?.seconds ?? 0, blocks.at(-1)?.seconds ?? 0] as const;

describe("a read as of a time", () => {
  it("is that of the last block at or before any time of the history", async () => {
    const [first, last] = ends();
    const times = fc.oneof(fc.integer({ min: first, max: last }), fc.constantFrom(first, last));
    await fc.assert(
      fc.asyncProperty(times, async (seconds) => {
        const { number, seconds: at } = blockAt(seconds);
        const { status, headers, body } = await stage.get(`/head?at=${formatMoment(seconds)}`);
        expect([status, headers.get("x-block-number")]).toEqual([200, String(number)]);
        expect(body).toMatchObject({ block_number: String(number), block_timestamp: String(at) });
        expect(headers.get("access-control-expose-headers")).toContain("X-Block-Time");
      }),
      { numRuns: 60 },
    );
  });

  it("returns the same bytes as by block, for records, lists and totals alike", async () => {
    const [{ agent_id: agent = "" } = {}] = await stage.rows(
      "select agent_id from agents order by 1 limit 1",
    );
    const late = ends()[1];
    for (const path of [`/agents/${agent}`, "/intents?status=open", "/solvers", "/analytics/commerce"]) {
      const join = path.includes("?") ? "&" : "?";
      const byTime = await stage.get(`${path}${join}at=${encodeURIComponent(formatMoment(late))}`);
      const byBlock = await stage.get(`${path}${join}block=${blockAt(late).number}`);
      expect([byTime.status, byTime.text]).toEqual([200, byBlock.text]);
      expect(byTime.headers.get("etag")).toBe(byBlock.headers.get("etag"));
      expect(byBlock.headers.get("x-block-number")).toBeNull();
    }
  });

  it("is found after the block that the request waits for", async () => {
    const newest = `at=${formatMoment(ends()[1])}`;
    const head = blockAt(ends()[1]).number;
    expect((await stage.get(`/head?${newest}&min_block=${head}`)).headers.get("x-block-number")).toBe(
      String(head),
    );
    // A later block is waited for, although its time is not indexed.
    const later = `at=${formatMoment(ends()[1] + 1)}&min_block=${head + 1}`;
    expect((await stage.get(`/head?${later}`)).headers.get("x-error-code")).toBe("BLOCK_NOT_INDEXED");
  });

  it("is not served from the response of an earlier moment", async () => {
    const now = vi.spyOn(Date, "now");
    onTestFinished(() => now.mockRestore());
    for (const { number, seconds } of [middle, blockAt(ends()[1])]) {
      now.mockReturnValue((seconds + 60) * 1_000);
      expect((await stage.get("/head?at=1m")).headers.get("x-block-number")).toBe(String(number));
    }
  });

  it.each<[string, () => string, RegExp]>([
    ["the future", () => "at=2999-01-01", /^at is in the future: it is /],
    [
      "a time after the newest block",
      () => `at=${formatMoment(ends()[1] + 1)}`,
      /is not indexed yet: the newest block is \d+ of 20/,
    ],
    [
      "a time before the first block",
      () => `at=${formatMoment(ends()[0] - 1)}`,
      /is too early: the index begins with block \d+ of 20\S+Z\. Give that time or a later one\.$/,
    ],
    ["a text that is not a time", () => "at=yesterday", /^at must be a time such as 7d/],
    ["an empty time", () => "at=", /^at must be a time such as 7d/],
    ["February 30", () => "at=2026-02-30", /^at must be a time such as 7d/],
    ["a time and a block", () => "at=7d&block=20", /^at and block exclude each other/],
  ])("rejects %s, and says why", async (_name, query, problem) => {
    const { status, headers, body } = await stage.get(`/intents?${query()}`);
    expect([status, headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
    expect((body as { readonly error: string }).error).toMatch(problem);
  });
});

describe("a time in place of a block", () => {
  it("leads a page of the explorer to the same page as of its block, with its other parameters", async () => {
    const open = (path: string) => fetch(stage.url + path, { redirect: "manual" });
    const time = encodeURIComponent(formatMoment(middle.seconds));
    const page = await open(`/explorer/intents?status=open&at=${time}`);
    expect([page.status, page.headers.get("location")]).toEqual([
      303,
      `/explorer/intents?status=open&block=${middle.number}&asked=${time}`,
    ]);
    const shown = await open(page.headers.get("location") ?? "");
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining(`${middle.number}`)]);
    const rejected = await open("/explorer/intents?at=2999-01-01");
    expect([rejected.status, await rejected.text()]).toEqual([
      400,
      expect.stringContaining("at is in the future"),
    ]);
    // Each text that is kept is a page of its own in the cache.
    for (const text of ["2026-nonsense", "2026-02-30", "2999-01-01"]) {
      const kept = await open(`/explorer/intents?block=${middle.number}&asked=${text}`);
      expect([kept.status, await kept.text()]).toEqual([200, expect.not.stringContaining(text)]);
    }
    // A form sends every field, also the empty ones.
    expect((await open("/explorer/intents?at=")).status).toBe(200);
  });

  it("is asked for once by the client, whose reads are then of one block", async () => {
    const sent: string[] = [];
    const counted: typeof fetch = (input, init) => {
      sent.push(String(input).slice(stage.url.length));
      return fetch(input, init);
    };
    const then = createSextant({ api: stage.url, fetch: counted }).at(new Date(middle.seconds * 1_000));
    const { block_number } = await then.getHead();
    expect(block_number).toBe(String(middle.number));
    const intents = await then.listIntents({ limit: 3 }).take(7);
    const { intents: expected } = await stage.body<{ intents: unknown[] }>(
      `/intents?limit=7&block=${middle.number}`,
    );
    expect(intents).toEqual(expected);
    expect(sent.filter((url) => url.includes("at="))).toHaveLength(1);
    expect(sent.filter((url) => url.includes(`block=${middle.number}`))).toHaveLength(sent.length - 1);
  });

  it("is an option of get and list, and an argument of tools", async () => {
    const time = formatMoment(middle.seconds);
    const run = (...args: string[]) =>
      runSextantInProcess([...args, "--url", stage.url, "--json"], {
        HOME: "/nowhere",
        SEXTANT_DATA: "/nowhere",
      });
    const head = await run("get", "head", "--at", time);
    expect([head.code, JSON.parse(head.out)]).toMatchObject([0, { block_number: String(middle.number) }]);
    const [byTime, byBlock] = [
      await run("list", "intents", "--at", time),
      await run("list", "intents", "--block", String(middle.number)),
    ];
    expect([byTime.code, byTime.out]).toEqual([0, byBlock.out]);
    const both = await run("get", "head", "--at", time, "--block", "20");
    expect([both.code, both.err]).toEqual([64, expect.stringContaining("Give --at or --block, not both")]);
    const wrong = await run("get", "head", "--at", "yesterday");
    expect([wrong.code, wrong.err]).toEqual([64, expect.stringContaining("--at must be a time such as 7d")]);

    const [, connect] = TOOL_CLIENTS[0] ?? [];
    const client = await connect?.(`${stage.url}/mcp`);
    const tool = async (args: Record<string, unknown>) =>
      (await client?.call("find_intents", args))?.structuredContent;
    const number = String(middle.number);
    expect(await tool({ at: time })).toEqual({ ...(await tool({ block: middle.number })), time });
    expect(await tool({ at: time })).toMatchObject({ block: number, time });
    expect(await tool({ block: middle.number })).not.toHaveProperty("time");
    const newest = blocks.at(-1);
    const newestTime = formatMoment(newest?.seconds ?? 0);
    expect(await tool({})).toMatchObject({ block: String(newest?.number), time: newestTime });
    await client?.close();
  });
});

describe("what depends on time", () => {
  type Row = Readonly<Record<string, string>>;
  type Model = {
    readonly open: readonly Row[];
    readonly keys: readonly Row[];
    readonly windows: readonly Row[];
  };
  const WINDOW = 86_400;
  let model: Model;
  /** Times at which a state changes, each between two blocks that the index has. */
  let turns: readonly number[];
  beforeAll(async () => {
    const read = (columns: string, table: string) =>
      stage.rows(`select ${columns}, valid_from, coalesce(valid_to::text, '') as valid_to from ${table}`);
    model = {
      open: await read("intent_id, status, deadline", "intents"),
      keys: await read("account, session_key, active::text as active, expires_at", "session_keys"),
      windows: await read("account, token, spent, window_start", "spend_windows"),
    };
    const [first, last] = ends();
    const all = [
      ...model.open.map(({ deadline }) => Number(deadline)),
      ...model.keys.map(({ expires_at }) => Number(expires_at) + 1),
      ...model.windows.map(({ window_start }) => Number(window_start) + WINDOW),
    ];
    turns = [...new Set(all)].filter((each) => each > first && each <= last && blockAt(each).seconds < each);
  });

  const at = (seconds: number) => encodeURIComponent(formatMoment(seconds));
  const validAt = (rows: readonly Row[], block: number) =>
    rows.filter(
      ({ valid_from, valid_to }) =>
        Number(valid_from) <= block && (valid_to === "" || Number(valid_to) > block),
    );
  const stateOf = ({ status = "", deadline }: Row, seconds: number) =>
    status === "OPEN" && Number(deadline) <= seconds ? "EXPIRED" : status;

  it("is judged at any time asked for, not at the last block before it, as a plain model says", async () => {
    expect(turns.length).toBeGreaterThan(5);
    const [first, last] = ends();
    const times = fc.oneof(
      fc.constantFrom(...turns),
      fc.constantFrom(...turns.map((each) => each - 1)),
      fc.integer({ min: first, max: last }),
    );
    await fc.assert(
      fc.asyncProperty(times, fc.nat(), async (seconds, pick) => {
        const { number } = blockAt(seconds);
        const intents = validAt(model.open, number);
        const shown = await stage.pages(`/intents?at=${at(seconds)}`, "intents", 100);
        const byId = new Map(shown.map(({ intent_id, status }) => [intent_id, status]));
        expect(byId).toEqual(new Map(intents.map((row) => [row.intent_id, stateOf(row, seconds)])));
        for (const status of ["open", "expired"]) {
          const found = await stage.pages(`/intents?status=${status}&at=${at(seconds)}`, "intents", 100);
          const expected = intents.filter((row) => stateOf(row, seconds) === status.toUpperCase());
          expect(found.map(({ intent_id }) => intent_id).sort()).toEqual(
            expected.map(({ intent_id }) => intent_id).sort(),
          );
        }
        const keys = validAt(model.keys, number);
        const { account } = keys[pick % Math.max(keys.length, 1)] ?? {};
        if (account === undefined) return;
        const read = await stage.pages(
          `/accounts/${account}/session-keys?at=${at(seconds)}`,
          "session_keys",
          50,
        );
        const stateOfKey = ({ active, expires_at }: Row) =>
          active !== "true" ? "WITHDRAWN" : seconds > Number(expires_at) ? "EXPIRED" : "ACTIVE";
        expect(new Map(read.map(({ session_key, state }) => [session_key, state]))).toEqual(
          new Map(
            keys.filter((row) => row.account === account).map((row) => [row.session_key, stateOfKey(row)]),
          ),
        );
      }),
      { numRuns: 25 },
    );
  });

  it("frees a spent budget when its window ends, although no block says so", async () => {
    const ended = model.windows.flatMap((row) => {
      const end = Number(row.window_start) + WINDOW;
      const { number } = blockAt(Math.min(end, ends()[1]));
      const isValid = validAt([row], number).length > 0 && row.spent !== "0";
      return turns.includes(end) && isValid ? [{ row, end }] : [];
    });
    expect(ended.length).toBeGreaterThan(0);
    for (const { row, end } of ended.slice(0, 3)) {
      const { account, token, spent } = row;
      const read = async (seconds: number) => {
        const windows = await stage.pages(`/accounts/${account}/windows?at=${at(seconds)}`, "windows", 50);
        return windows.find((each) => each.token === token && each.policy_type === "SPEND_LIMIT");
      };
      expect(await read(end - 1)).toMatchObject({ spent });
      expect(await read(end)).toMatchObject({ spent: "0", resets_at: null });
    }
  });

  /** A time at which an intent has just expired, while the last block before it still has it open. */
  function findExpiry() {
    for (const row of model.open) {
      const seconds = Number(row.deadline);
      if (row.status !== "OPEN" || !turns.includes(seconds)) continue;
      const { number } = blockAt(seconds);
      if (validAt([row], number).length > 0) return { id: row.intent_id ?? "", seconds, number };
    }
    throw new Error("no intent expires between two blocks");
  }

  it("is the same by block and time, by the client, by tools and on pages", async () => {
    const { id, seconds, number } = findExpiry();
    const status = async (query: string) => (await stage.body(`/intents/${id}?${query}`)).status;
    expect(await status(`block=${number}`)).toBe("OPEN");
    expect(await status(`block=${number}@${seconds - 1}`)).toBe("OPEN");
    expect(await status(`block=${number}@${seconds}`)).toBe("EXPIRED");
    const dated = await stage.get(`/intents/${id}?at=${at(seconds)}`);
    expect(dated.body).toMatchObject({ status: "EXPIRED" });
    expect([dated.headers.get("x-block-number"), dated.headers.get("x-block-time")]).toEqual([
      String(number),
      formatMoment(seconds),
    ]);
    const then = createSextant({ api: stage.url }).at(new Date(seconds * 1_000));
    expect(await then.getIntent({ id })).toMatchObject({ status: "EXPIRED" });
    const [, connect] = TOOL_CLIENTS[1] ?? [];
    const client = await connect?.(`${stage.url}/mcp`);
    const result = await client?.call("get_intent", { id, at: formatMoment(seconds) });
    await client?.close();
    expect(result?.structuredContent).toMatchObject({
      ...{ data: { status: "EXPIRED" }, block: String(number), time: formatMoment(seconds) },
    });
    const page = await fetch(`${stage.url}/explorer/intents/${id}?at=${at(seconds)}`);
    expect([page.status, new URL(page.url).searchParams.get("block")]).toEqual([200, `${number}@${seconds}`]);
    const text = await page.text();
    expect(text).toContain(`data-block-time="${new Date(seconds * 1_000).toISOString().slice(0, 19)}`);
    expect(text).toMatch(/expired/i);
    expect(text).toContain(`block=${number}%40${seconds}`);
    for (const path of ["", "/events", "/solvers"]) {
      const other = await fetch(`${stage.url}/explorer${path}?block=${number}@${seconds}`);
      expect(other.status, path).toBe(200);
    }
  });

  it("is not judged after the next block, nor after the newest, whatever time is given", async () => {
    const { id, number } = findExpiry();
    const next = blocks.find((block) => block.number > number)?.seconds ?? 0;
    const far = 4_000_000_000;
    const read = async (block: string) =>
      (await stage.get(`/intents?limit=100&block=${block}`)).body as object;
    const { pagination: _late, ...late } = (await read(`${number}@${far}`)) as { pagination: object };
    const { pagination: _last, ...last } = (await read(`${number}@${next - 1}`)) as { pagination: object };
    expect(late).toEqual(last);
    const newest = ends()[1];
    const head = blockAt(newest).number;
    for (const { intent_id, deadline, status = "" } of validAt(model.open, head).slice(0, 20)) {
      const shown = await stage.body(`/intents/${intent_id}?block=${head}@${far}`);
      expect(shown.status).toBe(stateOf({ status, deadline: deadline ?? "" }, newest));
    }
    for (const [block, judged] of [
      [`${number}@${far}`, next - 1],
      [`${number}@7`, blocks.find((block) => block.number === number)?.seconds ?? 0],
      [`${head}@${far}`, newest],
    ] as const) {
      const page = await (await fetch(`${stage.url}/explorer/intents?block=${block}`)).text();
      expect(page, block).toContain(`data-block-time="${formatMoment(judged).slice(0, 19)}`);
      const cursor = `${Buffer.from('["9"]').toString("base64url")}.${block.replace("@", ".")}`;
      const continued = await stage.get(`/intents?at=1m&cursor=${cursor}`);
      expect([continued.status, continued.headers.get("x-block-time")]).toEqual([200, formatMoment(judged)]);
    }
    expect((await fetch(`${stage.url}/explorer/intents?block=${head + 1}@${far}`)).status).toBe(400);
    for (const wrong of ["7@", "7@x", "7@8@9", "@7", "7@9999999999999999"]) {
      expect((await stage.get(`/intents/${id}?block=${wrong}`)).status, wrong).toBe(400);
    }
  });
});

describe("the pages of a list as of an age", () => {
  it("a record ignores a cursor, as any parameter that it does not know", async () => {
    const path = `/intents/${(await stage.rows("select max(intent_id)::text as id from intents"))[0]?.id}`;
    const plain = await stage.get(path);
    for (const cursor of ["x.5", `x.${blocks[0]?.number}`]) {
      const { status, text } = await stage.get(`${path}?cursor=${cursor}`);
      expect([status, text]).toEqual([200, plain.text]);
      const dated = await stage.get(`/head?at=${formatMoment(middle.seconds)}&cursor=${cursor}`);
      expect(dated.headers.get("x-block-number")).toBe(String(middle.number));
    }
  });

  it("the next page is as of the block of the first one when the age leads to a later block", async () => {
    const now = vi.spyOn(Date, "now");
    onTestFinished(() => now.mockRestore());
    type Page = {
      readonly intents: readonly object[];
      readonly pagination: { readonly next_cursor?: string };
    };
    const read = async (query: string) => {
      const { status, body, headers } = await stage.get(`/intents?limit=3&${query}`);
      expect(status).toBe(200);
      return { ...(body as Page), number: headers.get("x-block-number") };
    };
    now.mockReturnValue((middle.seconds + 61) * 1_000);
    const first = await read("at=1m");
    const cursor = first.pagination.next_cursor ?? "";
    now.mockReturnValue((ends()[1] + 60) * 1_000);
    expect((await read("at=1m")).number).not.toBe(first.number);
    const second = await read(`at=1m&cursor=${cursor}`);
    expect([first.number, second.number]).toEqual([String(middle.number), String(middle.number)]);
    const { intents } = await stage.body<Page>(`/intents?limit=6&block=${middle.number}`);
    expect([...first.intents, ...second.intents]).toEqual(intents);
    // The cursor is enough; one of another block is rejected, and so is a text that is not a time.
    expect((await read(`cursor=${cursor}`)).intents).toEqual(second.intents);
    for (const query of [`block=${middle.number - 1}`, "at=yesterday"]) {
      const { status, headers } = await stage.get(`/intents?limit=3&${query}&cursor=${cursor}`);
      expect([status, headers.get("x-error-code")], query).toEqual([400, "INPUT_INVALID"]);
    }
    // Pages of the newest block follow it.
    expect((await stage.body<Page>("/intents?limit=3")).pagination.next_cursor).not.toContain(".");
  });
});
