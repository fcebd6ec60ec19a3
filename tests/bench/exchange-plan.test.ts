// RPC time of the portfolio benchmark: the same exchanges, each as early as possible.
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listenOnLoopback } from "../../bench/harness/loopback.ts";
import { type CachingNode, startCachingNode } from "../../bench/portfolio/caching-node.ts";
import {
  countRoundTrips,
  planExchanges,
  type RecordedExchange,
  recordExchanges,
  replayExchanges,
} from "../../bench/portfolio/exchange-plan.ts";

// Longer than requests of one moment begin apart from each other on a busy machine.
const DELAY_MS = 120;

/** Every request that reached the real node. */
const reached: string[] = [];
const real = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
  reached.push(JSON.stringify([method, params]));
  const end = method === "fails" ? { error: { code: 3, message: "reverted" } } : { result: [method, params] };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...end }));
});
let node: CachingNode;

beforeAll(async () => {
  node = await startCachingNode(await listenOnLoopback(real), DELAY_MS);
});

afterAll(() => {
  node.close();
  real.close();
  real.closeAllConnections();
});

async function post(body: unknown): Promise<unknown> {
  return (await fetch(node.url, { method: "POST", body: JSON.stringify(body) })).json();
}

const exchange = (url: string, startedMs: number, endedMs: number): RecordedExchange => ({
  url,
  body: "",
  startedMs,
  endedMs,
  responseBytes: 0,
});

describe("a plan", () => {
  it("lets an exchange wait for those of its node that were over when it began", () => {
    const plan = planExchanges([
      exchange("a", 0, 10),
      exchange("a", 12, 25),
      exchange("a", 11, 20),
      exchange("b", 15, 40),
      exchange("a", 26, 30),
    ]);
    expect(plan.map(({ url, after }) => [url, after])).toEqual([
      ["a", []],
      ["a", [0]],
      ["a", [0]],
      ["b", []],
      ["a", [0, 1, 2]],
    ]);
    expect(countRoundTrips(plan)).toBe(3);
    expect(countRoundTrips([])).toBe(0);
  });

  it("sends again exactly what was seen, in as many round trips", async () => {
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "again", params: [id] });
    const work = async () => {
      await post(call(1));
      await Promise.all([post(call(2)), post([call(3), call(4)])]);
      await post(call(5));
    };
    const plan = planExchanges(await recordExchanges([node.url], work));
    expect(plan).toHaveLength(4);
    expect(countRoundTrips(plan)).toBe(3);
    const again = planExchanges(await recordExchanges([node.url], () => replayExchanges(plan)));
    expect(again.map(({ body }) => body).sort()).toEqual(plan.map(({ body }) => body).sort());
    expect(countRoundTrips(again)).toBe(3);
  });
});

describe("the node that remembers", () => {
  it("forwards each request once, and responds to every id", async () => {
    const before = reached.length;
    const request = (id: unknown, params: readonly unknown[]) => ({
      jsonrpc: "2.0",
      id,
      method: "once",
      params,
    });
    const response = (id: unknown, params: readonly unknown[]) => ({
      jsonrpc: "2.0",
      id,
      result: ["once", params],
    });
    expect(await post(request(1, ["x"]))).toEqual(response(1, ["x"]));
    expect(await post([request("two", ["x"]), request(3, ["y"])])).toEqual([
      response("two", ["x"]),
      response(3, ["y"]),
    ]);
    expect(reached.slice(before)).toEqual(['["once",["x"]]', '["once",["y"]]']);
  });

  it("caches errors too, and delays every response", async () => {
    const failing = { jsonrpc: "2.0", id: 7, method: "fails", params: [] };
    const error = { jsonrpc: "2.0", id: 7, error: { code: 3, message: "reverted" } };
    expect(await post(failing)).toEqual(error);
    const startedMs = performance.now();
    expect(await post(failing)).toEqual(error);
    // Timers are a millisecond early now and then.
    expect(performance.now() - startedMs).toBeGreaterThan(DELAY_MS - 2);
    expect(reached.filter((text) => text.startsWith('["fails"'))).toHaveLength(1);
  });
});
