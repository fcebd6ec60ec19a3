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
      /is too early: the index begins with block \d+ of 20/,
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
    expect(await tool({ at: time })).toEqual(await tool({ block: middle.number }));
    await client?.close();
  });
});
