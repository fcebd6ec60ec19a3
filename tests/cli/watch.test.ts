// `sextant watch` against the real API, and against one that wants to steer the terminal.
import { EventEmitter } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { runSextantInProcess, startSextantInProcess } from "../support/process/run-in-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

let index: EventIndex;
let api: TestApi;
beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});
beforeEach(() => index.reset());

const waitFor = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });

/** Runs the command in this process, by its own command line, until it is stopped. */
function watch(
  options: Readonly<Record<string, string | true>>,
  url = api.url,
  columns: number | null = null,
) {
  const keyboard = new EventEmitter();
  const args = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, value],
  );
  const environment = { SEXTANT_API_URL: url, SEXTANT_DATA: "/nowhere" };
  const running = startSextantInProcess(["watch", ...args], environment, undefined, columns, keyboard);
  const end = async () => {
    keyboard.emit("SIGINT", "SIGINT");
    return (await running.ended).code;
  };
  onTestFinished(async () => void (await end()));
  return { ...running, end, lines: () => running.written.out.split("\n").slice(0, -1) };
}

describe("watch", () => {
  it("prints time, block and sentence of each event, and marks what a reorg removes", async () => {
    await index.extend([1, 1], 8);
    const { lines, end } = watch({ from: "genesis" });
    await waitFor(() => expect(lines()).toHaveLength(2));
    expect(lines()[1]).toMatch(
      /^2026-01-01 00:00:02 {2}2 {2}Intent #\d+ (submitted by 0x\w{40} to swap up to \S+ \S.* for at least \S+ \S.*|cancelled by its owner)$/,
    );
    await index.rollback(1);
    await index.extend([1], 8);
    await waitFor(() => expect(lines()).toHaveLength(4));
    expect(lines()[2]).toBe("undo: a reorg removed every event after block 1");
    expect(await end()).toBe(0);
  });

  it("wraps sentences below their beginning, with short addresses and symbols, at a terminal", async () => {
    const [account, token] = [`0x${"ab12".repeat(10)}`, `0x${"0".repeat(40)}`];
    const parts = [
      { kind: "record", text: `Quote 0x${"c".repeat(64)}`, record: "quote", id: "1" },
      { kind: "text", text: " of account " },
      { kind: "address", text: account },
      { kind: "text", text: " for " },
      { kind: "amount", text: "2000000000000000000", amount: "2000000000000000000", token },
      { kind: "text", text: " of " },
      { kind: "token", text: token },
      { kind: "text", text: ", fee " },
      { kind: "amount", text: "6369749", amount: "6369749", token: null },
      { kind: "text", text: " to merchant " },
      { kind: "record", text: `#4365${"1".repeat(69)}7667`, record: "merchant", id: "1" },
    ];
    const event = {
      ...{ id: "1", type: "A", contract: "B", address: "0x1", args: {}, tx_hash: "0x2", log_index: 1 },
      ...{ block_number: "5", block_hash: "0x3", block_timestamp: "1767225602", cursor: "a" },
      ...{ description: "", parts },
    };
    const tokens = [{ address: token, symbol: "ETH", decimals: 18 }];
    const server = await startLoopbackServer(({ url }, response) => {
      if (url === "/deployments") response.end(JSON.stringify({ deployments: [], tokens }));
      else
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(`data: ${JSON.stringify(event)}\n\n`);
    });
    onTestFinished(() => server.stop());
    const { lines, end } = watch({}, server.url, 60);
    await waitFor(() => expect(lines().length).toBeGreaterThan(1));
    const shown = lines().map((line) => line.replace(/\p{Cc}\[\d*[mK]/gu, "").replace(/^.*\r/, ""));
    expect(shown.slice(0, 4)).toEqual([
      "2026-01-01 00:00:02  5  Quote 0xcccc…cccc of account",
      "                        0xab12…ab12 for 2 ETH of ETH, fee",
      "                        6,369,749 units (no token named) to",
      "                        merchant #436,511,111…111,117,667",
    ]);
    await end();
  });

  it("prints the lines of the API as JSON", async () => {
    await index.extend([2], 8);
    const { lines, end } = watch({ from: "genesis", json: true });
    await waitFor(() => expect(lines()).toHaveLength(3));
    const page = await fetch(`${api.url}/events`, { headers: { accept: "application/x-ndjson" } });
    const expected = (await page.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    // Only a page has a next one.
    for (const line of expected) if (line.progress) delete line.progress.has_more;
    expect(lines().map((line) => JSON.parse(line))).toEqual(expected);
    expect(await end()).toBe(0);
  });

  it("takes filters and finality", async () => {
    await index.extend([8, 4], 1);
    const { lines, end } = watch({ from: "0", type: "IntentCancelled", finality: "finalized", json: true });
    const expected = index.events(1).filter(({ type }) => type === "IntentCancelled");
    await waitFor(() => expect(lines()).toHaveLength(expected.length + 1));
    const ids = lines().flatMap((line) => JSON.parse(line).event?.id ?? []);
    expect(ids).toEqual(expected.map(({ id }) => id));
    await end();
  });

  it("goes on from its file, with the undo of what it printed", async () => {
    const file = join(await createTestFolder(), "events.cursor");
    await index.extend([1, 1, 1], 8);
    const options = { from: "genesis", json: true, "cursor-file": file } as const;
    const first = watch(options);
    await waitFor(() => expect(first.lines()).toHaveLength(4));
    await waitFor(() => {
      const { cursor } = JSON.parse(first.lines()[3] ?? "").progress;
      expect(readFileSync(file, "utf8")).toBe(`${cursor}\n`);
    });
    await first.end();
    await index.rollback(2);
    await index.extend([1, 1], 8);
    const second = watch(options);
    await waitFor(() => expect(second.lines()).toHaveLength(4));
    const kinds = second.lines().map((line) => Object.keys(JSON.parse(line))[0]);
    expect(kinds).toEqual(["undo", "event", "event", "progress"]);
    await second.end();
  });

  it("does not write over a file that is something else", async () => {
    const file = join(await createTestFolder(), "notes.txt");
    for (const text of ["a note\nanother", "", "x".repeat(5_000)]) {
      writeFileSync(file, text);
      expect((await watch({ "cursor-file": file }).ended).err).toContain("has no cursor");
      expect(readFileSync(file, "utf8")).toBe(text);
    }
    const nowhere = join(file, "cursor");
    expect((await watch({ "cursor-file": nowhere }).ended).err).toContain("cannot be read");
    expect(existsSync(nowhere)).toBe(false);
  });

  it("reports a lost connection and goes on", async () => {
    const other = await startTestApi(index.database);
    const { written, end } = watch({}, other.url);
    await vi.waitFor(() => fetch(`${other.url}/health`));
    await waitFor(async () => {
      const metrics = await (await fetch(`${other.url}/metrics`)).text();
      expect(metrics).toContain('sextant_event_streams{state="live"} 1');
    });
    await other.close();
    await waitFor(() => expect(written.err).toMatch(/^The .+\. Connecting again in \d\.\d s\.$/m));
    expect(await end()).toBe(0);
  });

  it("shows no text of a server that could steer a terminal", async () => {
    const event = {
      ...{ id: "1", type: "A", contract: "B", address: "0x1", args: {}, tx_hash: "0x2", log_index: 1 },
      ...{ block_number: "5", block_hash: "0x3", block_timestamp: "9".repeat(30), cursor: "a" },
      description: "\u001b[2Jcleared \u202e\nforged line",
      parts: ["text", "quoted", "address", "time"].map((kind) => ({
        kind,
        text: "\u001b[2J \u202e\nforged",
      })),
    };
    const server = await startLoopbackServer((_, response) => {
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write(`data: ${JSON.stringify(event)}\n\n`);
    });
    onTestFinished(() => server.stop());
    for (const options of [{}, { json: true }] as const) {
      const { lines, written, end } = watch(options, server.url);
      await waitFor(() => expect(lines()).toHaveLength(1));
      expect(written.out.replace("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(written.out.split("forged").length).toBeGreaterThan(4);
      await end();
    }
  });

  it.each<[string, readonly string[], number, RegExp]>([
    ["an unknown type", ["--type", "Nonsense"], 65, /^sextant: type must be names of events/],
    ["a finality", ["--finality", "soon"], 64, /--finality must be one of instant, safe, finalized/],
    ["a start", ["--from", "yesterday"], 65, /^sextant: from must be a cursor, a block number/],
    ["a damaged cursor", ["--from", "A".repeat(132)], 65, /^sextant: The cursor is damaged/],
    ["a limit", ["--limit", "3"], 64, /Unknown option '--limit'/],
    ["an order", ["--order", "desc"], 64, /Unknown option '--order'/],
  ])("rejects %s in one sentence", async (_what, args, code, sentence) => {
    const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
    const result = await runSextantInProcess(["watch", ...args], environment);
    expect(result.err).toMatch(sentence);
    expect([result.code, result.out, result.err.trimEnd().split("\n").length]).toEqual([code, "", 1]);
  });

  it("lists all filters of the API in the help of watch and publish", async () => {
    for (const command of ["watch", "publish"]) {
      const { out } = await runSextantInProcess([command, "--help"]);
      for (const name of [
        "from",
        "finality",
        "type",
        "agent",
        "intent",
        "account",
        "merchant",
        "service",
        "solver",
      ]) {
        expect(out).toContain(`\n  --${name} `);
      }
      expect(out).toContain(command === "watch" ? "--cursor-file FILE" : "--to URL");
    }
  });
});

it("ends quietly on Ctrl-C", async () => {
  await index.extend([1], 8);
  const keyboard = new EventEmitter();
  const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
  const { written, ended } = startSextantInProcess(
    ...([["watch", "--from", "0"], environment, process.cwd(), null, keyboard] as const),
  );
  await expect.poll(() => written.out, { timeout: 20_000 }).toContain("Intent #");
  keyboard.emit("SIGINT", "SIGINT");
  const { code, out, err } = await ended;
  expect([code, err, out.split("\n")]).toEqual([0, "", [expect.stringContaining("Intent #"), ""]]);
});

describe("list events", () => {
  const list = (line: string, columns: number | null) => {
    const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere", TERM: "dumb" };
    return runSextantInProcess(["list", "events", ...line.split(" ")], environment, undefined, columns);
  };

  it("shows the newest events first, as sentences within the width of a terminal", async () => {
    await index.extend([3, 3], 8);
    const { code, out, err } = await list("--limit 4", 60);
    expect([code, err]).toEqual([0, "4 shown, and there are more: --limit N or --all\n"]);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
    expect(out.match(/^2026-01-01 00:00:0\d {2}\d {2}/gm)).toEqual([
      ...Array.from({ length: 3 }, () => "2026-01-01 00:00:02  2  "),
      "2026-01-01 00:00:01  1  ",
    ]);
    expect(out).not.toContain("cursor");
  });

  it("takes filters, follows pages to the end, and prints each event as a line of JSON", async () => {
    await index.extend(
      Array.from({ length: 30 }, () => 4),
      8,
    );
    const ids = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id);
    const all = await list("--all --json", null);
    expect(ids(all.out)).toEqual(
      index
        .events(30)
        .map(({ id }) => id)
        .reverse(),
    );
    const some = await list("--limit 110 --json", 80);
    expect([ids(some.out), some.err]).toEqual([
      ids(all.out).slice(0, 110),
      "110 shown, and there are more: --limit N or --all\n",
    ]);
    const cancelled = await list("--all --json --type IntentCancelled --order asc", null);
    const expected = index.events(30).filter(({ type }) => type === "IntentCancelled");
    expect(ids(cancelled.out)).toEqual(expected.map(({ id }) => id));
    expect((await list("--type AgentRevoked", 80)).err).toBe("No event matches.\n");
  });
});
