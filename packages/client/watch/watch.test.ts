// A watch against services that break, lie, wait or never end; tests/client/watch.test.ts has the real one.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createSextant } from "../create-sextant.ts";
import { SextantError } from "../errors.ts";
import type { WatchOptions } from "./watch.ts";

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Each connection is served by the next function, the last one also by all that follow. */
async function serve(...responses: readonly Respond[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    responses[Math.min(requests.length, responses.length) - 1]?.(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { requests, sextant: createSextant({ api: url, attemptsMax: 2, responseBytesMax: 10_000 }) };
}

function begin(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).write(text);
}

const event = (cursor: string) => ({
  ...{ id: `0x${cursor}-1`, type: "IntentCancelled", contract: "IntentBook", address: "0x1" },
  ...{ args: { intentId: "1" }, description: "Intent #1 cancelled", tx_hash: "0x2", log_index: 1 },
  ...{ block_number: "5", block_hash: "0x3", block_timestamp: "1", cursor },
});
const progress = (cursor: string) => ({
  ...{ block_number: "5", indexed_block: "5", finalized_block: "1", cursor },
});
const undo = (cursor: string) => ({ block_number: "4", block_hash: null, cursor });

const format = (name: string | null, value: unknown) =>
  `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

async function take(
  sextant: Awaited<ReturnType<typeof serve>>["sextant"],
  max: number,
  options: WatchOptions = {},
) {
  const found: string[] = [];
  for await (const { kind, cursor } of sextant.watch({}, options)) {
    found.push(`${kind} ${cursor}`);
    if (found.length >= max) break;
  }
  return found;
}

it("later reads ask for the newest block that it has shown, also after the undo of an old reorg", async () => {
  const respondNone: Respond = (response) =>
    response.writeHead(404).end('{"code":"NOT_FOUND","error":"None."}');
  const { requests, sextant } = await serve(
    (response) => begin(response, format(null, event("a"))),
    respondNone,
    (response) => begin(response, format("progress", { ...progress("b"), indexed_block: "7" })),
    respondNone,
    (response) => begin(response, format("undo", undo("c"))),
    respondNone,
  );
  for (const kind of ["event a", "progress b", "undo c"]) {
    expect(await take(sextant, 1)).toEqual([kind]);
    await expect(sextant.getIntent({ id: "1" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
  const asked = requests
    .filter(({ url }) => url === "/intents/1")
    .map(({ headers }) => headers["x-min-block"]);
  expect(asked).toEqual(["5", "7", "7"]);
});

describe("a connection that ends", () => {
  it("reconnects from the last cursor, after the time that the service asks for", async () => {
    const { requests, sextant } = await serve(
      (response) => {
        begin(response, `retry: 120\n\n${format(null, event("a"))}${format("progress", progress("b"))}`);
        response.end();
      },
      (response) => {
        begin(response, format("undo", undo("c")));
        // Everything arrives, and the body has no end.
        response.socket?.end();
      },
      (response) => begin(response, format(null, event("d"))),
    );
    const waits: number[] = [];
    const found = await take(sextant, 4, { from: 3n, onRetry: (_, waitMs) => waits.push(waitMs) });
    expect(found).toEqual(["event a", "progress b", "undo c", "event d"]);
    expect(requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "b", "c"]);
    expect(requests.every(({ url }) => url === "/events?from=3")).toBe(true);
    expect(waits).toHaveLength(2);
    for (const waitMs of waits) expect(waitMs).toBeGreaterThanOrEqual(120);
    for (const waitMs of waits) expect(waitMs).toBeLessThanOrEqual(180);
  });

  it("reconnects if the connection is silent", async () => {
    const { requests, sextant } = await serve(
      (response) => begin(response, `retry: 1\n\n${format(null, event("a"))}`),
      (response) => begin(response, format(null, event("b"))),
    );
    expect(await take(sextant, 2, { idleMs: 100 })).toEqual(["event a", "event b"]);
    expect(requests).toHaveLength(2);
  });

  it("stays open while comments come, and while the caller takes its time", async () => {
    const { requests, sextant } = await serve((response) => {
      begin(response, format(null, event("a")));
      const timer = setInterval(() => response.write(": keep-alive\n\n"), 20);
      setTimeout(() => response.write(format(null, event("b"))), 400);
      response.on("close", () => clearInterval(timer));
    });
    const found: string[] = [];
    for await (const { cursor } of sextant.watch({}, { idleMs: 200 })) {
      found.push(cursor);
      if (found.length === 2) break;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect([found, requests.length]).toEqual([["a", "b"], 1]);
  });

  it("doubles the wait each time while the service is away, at least 100 ms", async () => {
    let left = 4;
    const { sextant } = await serve(
      (response) => {
        begin(response, `retry: 1\n\n${format(null, event("a"))}`);
        response.end();
      },
      (response) => {
        left -= 1;
        if (left > 0) response.writeHead(503, { "x-error-code": "OVERLOADED" }).end("{}");
        else begin(response, format(null, event("b")));
      },
    );
    const waits: number[] = [];
    await take(sextant, 2, { onRetry: (_, waitMs) => waits.push(waitMs) });
    expect(waits).toHaveLength(4);
    // 100 ms at least, whatever the service says; doubled each time, and up to half of it for chance.
    for (const [index, waitMs] of waits.entries()) {
      expect(waitMs).toBeGreaterThanOrEqual(100 * 2 ** index);
      expect(waitMs).toBeLessThanOrEqual(150 * 2 ** index);
    }
  });

  it("waits a minute at most before it reconnects", async () => {
    const { sextant } = await serve((response) => {
      begin(response, `retry: 999999999\n\n${format(null, event("a"))}`);
      response.end();
    });
    const stop = new AbortController();
    let waited = 0;
    const found = take(sextant, 2, {
      signal: stop.signal,
      onRetry: (_, waitMs) => {
        waited = waitMs;
        stop.abort();
      },
    });
    await expect(found).rejects.toMatchObject({ code: "ABORTED" });
    expect(waited).toBe(60_000);
  });
});

describe("the caller", () => {
  it("closes the connection by leaving the loop", async () => {
    let closed = () => undefined as unknown;
    const isClosed = new Promise((resolve) => {
      closed = () => resolve(true);
    });
    const { sextant } = await serve((response) => {
      begin(response, format(null, event("a")));
      response.on("close", () => closed());
    });
    expect(await take(sextant, 1)).toEqual(["event a"]);
    expect(await isClosed).toBe(true);
  });

  it.each(["before", "while it connects", "while it waits for a message"])("aborts %s", async (when) => {
    const stop = new AbortController();
    if (when === "before") stop.abort();
    const { sextant } = await serve((response) => {
      if (when === "while it waits for a message") begin(response, ": hello\n\n");
      setTimeout(() => stop.abort(), 50);
    });
    const found = take(sextant, 1, { signal: stop.signal });
    await expect(found).rejects.toMatchObject({ code: "ABORTED" });
  });

  it.each<[string, Parameters<ReturnType<typeof createSextant>["watch"]>]>([
    ["two finalities", [{}, { finalized: true, finality: "instant" } as WatchOptions]],
    ["no type at all", [{ type: [] }]],
  ])("rejects a watch before anything is sent: %s", async (_what, given) => {
    const { sextant, requests } = await serve((response) => response.end());
    await expect(sextant.watch(...given).next()).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(requests).toEqual([]);
  });

  it("names filters as the API does", async () => {
    const { sextant, requests } = await serve((response) => begin(response, format(null, event("a"))));
    const filter = { type: ["IntentSubmitted", "IntentFilled"], agent: 7n, account: "0x1" };
    await sextant
      .watch(filter, { finalized: true, include: "rows" })
      .next()
      .catch(() => undefined);
    const { searchParams } = new URL(requests[0]?.url ?? "", "http://localhost");
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ type: "IntentSubmitted,IntentFilled", agent: "7", account: "0x1", finality: "finalized" },
      include: "rows",
    });
  });
});

describe("what cannot get better", () => {
  const reject = { code: "CURSOR_FOREIGN", error: "The cursor belongs to another chain." };
  it.each<[string, string, Respond]>([
    ["a rejected cursor", "CURSOR_FOREIGN", (response) => begin(response, format("rejected", reject))],
    [
      "an invalid filter",
      "INPUT_INVALID",
      (response) => response.writeHead(400, { "x-error-code": "INPUT_INVALID" }).end('{"error":"type"}'),
    ],
    [
      "another place",
      "REDIRECTED",
      (response) => response.writeHead(302, { location: "http://a.example" }).end(),
    ],
    [
      "a page",
      "RESPONSE_INVALID",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("x"),
    ],
    ["no JSON", "RESPONSE_INVALID", (response) => begin(response, "data: {\n\n")],
    ["no event", "RESPONSE_INVALID", (response) => begin(response, format(null, { cursor: "a" }))],
    ["nothing", "RESPONSE_INVALID", (response) => begin(response, format("undo", null))],
    ["no progress", "RESPONSE_INVALID", (response) => begin(response, format("progress", { cursor: "a" }))],
    [
      "text that is not a cursor",
      "RESPONSE_INVALID",
      (response) => begin(response, format(null, event("a\r\nb"))),
    ],
    [
      "a message without end",
      "RESPONSE_INVALID",
      (response) => begin(response, `data: ${"x".repeat(20_000)}`),
    ],
    [
      "no text",
      "RESPONSE_INVALID",
      (response) => {
        begin(response, "");
        response.write(Buffer.from([0xff, 0xfe, 0xff]));
      },
    ],
  ])("ends it at once: %s", async (_what, code, respond) => {
    const { sextant, requests } = await serve(respond);
    const failure = await sextant
      .watch()
      .next()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SextantError);
    expect(failure).toMatchObject({ code, retry: "never" });
    expect(requests).toHaveLength(1);
  });

  it("fails for a service that was never there", async () => {
    const { sextant, requests } = await serve((response) => response.destroy());
    await expect(sextant.watch().next()).rejects.toMatchObject({ code: "UNREACHABLE" });
    expect(requests).toHaveLength(2);
  });

  it.each([1, "rows", {}, [1], [null], [{ table: "intents", key: {}, before: null, after: null }]])(
    "fails for an event with invalid rows: %j",
    async (rows) => {
      const { sextant } = await serve((response) => begin(response, format(null, { ...event("a"), rows })));
      await expect(sextant.watch().next()).rejects.toMatchObject({ code: "RESPONSE_INVALID" });
    },
  );

  it("fails for an event without the rows that were asked for", async () => {
    const { sextant } = await serve((response) => begin(response, format(null, event("a"))));
    await expect(sextant.watch({}, { include: "rows" }).next()).rejects.toMatchObject({
      code: "RESPONSE_INVALID",
      message: expect.stringContaining("without rows"),
    });
  });

  it("fails for an undo of events that are final", async () => {
    const { sextant } = await serve((response) => begin(response, format("undo", undo("a"))));
    await expect(sextant.watch({}, { finalized: true }).next()).rejects.toMatchObject({
      code: "RESPONSE_INVALID",
      message: expect.stringContaining("undoes events that were to be final"),
    });
  });
});

it("takes the rows of an event, and null if its block is too large", async () => {
  const change = { table: "intents", key: { intent_id: "1" }, before: null, after: { intent_id: "1" } };
  const events = [[change], [{ ...change, before: change.after }], [], null];
  const text = events.map((rows, at) => format(null, { ...event(`a${at}`), rows })).join("");
  const { sextant } = await serve((response) => begin(response, text));
  const found: unknown[] = [];
  for await (const item of sextant.watch({}, { include: "rows" })) {
    if (item.kind === "event") found.push(item.event.rows);
    if (found.length === events.length) break;
  }
  expect(found).toEqual(events);
});

it("passes over messages of a later version", async () => {
  const { sextant } = await serve((response) =>
    begin(response, `${format("later", "anything")}${format("constructor", 1)}${format(null, event("a"))}`),
  );
  expect(await take(sextant, 1)).toEqual(["event a"]);
});

it("asks for a stream that is sold by its URL, which a payment is bound to, and says what it takes to buy it", async () => {
  const sell: Respond = (response) => response.writeHead(402).end('{"error":"A minute costs $1."}');
  const { requests, sextant } = await serve((response) => {
    begin(response, `retry: 100\n${format(null, event("a"))}`);
    response.end();
  }, sell);
  const items = sextant.watch({}, { from: "genesis" });
  await expect(items.next()).resolves.toMatchObject({ value: { cursor: "a" } });
  await expect(items.next()).rejects.toThrow(/^A minute costs \$1\. Nothing was paid: reads are bought by/);
  expect(requests.map(({ url, headers }) => [url, headers["last-event-id"]])).toEqual([
    ["/events?from=genesis", undefined],
    ["/events?from=genesis", "a"],
    ["/events?from=a", undefined],
  ]);
});
