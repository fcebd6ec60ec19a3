// The client against a real chain behind nodes that fail in every way we know.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  planFaults,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { Fault } from "../../lib/fault.ts";
import { malformedResponse, RpcError } from "./errors.ts";
import { rawCall } from "./types.ts";

let chain: LocalChain;
const nodes: FaultyNode[] = [];

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337 });
  await chain.mine(5);
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function node(plan: FaultyNodeOptions["plan"]): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: chain.rpcUrl, plan });
  nodes.push(started);
  return started;
}
const honest = () => node(() => null);
const always = (injection: NodeFaultInjection) => node(() => injection);

const head = rawCall("eth_blockNumber");
const chainId = rawCall("eth_chainId");
const DOWN: NodeFaultInjection = { kind: "status", status: 503 };

describe("a request", () => {
  const PASSING: readonly NodeFaultInjection[] = [
    { kind: "status", status: 429 },
    { kind: "status", status: 500, body: "oops" },
    { kind: "status", status: 502, body: "<html>bad gateway</html>" },
    { kind: "page" },
    { kind: "truncated" },
    { kind: "cut-connection" },
    { kind: "reset" },
    { kind: "hang" },
    { kind: "wrong-id" },
    { kind: "error", code: -32603, message: "Internal error" },
    { kind: "error", code: -32005, message: "limit exceeded" },
    { kind: "error", code: -32000, message: "header not found" },
    { kind: "error", code: -32011, message: "no backend is currently healthy to serve traffic", status: 503 },
  ];

  it.each(PASSING)("recovers from $kind $status $message", async (injection) => {
    const only = await node(planFaults([injection]));
    const { rpc } = createTestRpc([only.url], {
      limits: { requestTimeoutMs: injection.kind === "hang" ? 500 : 5_000 },
    });
    expect(await rpc.request(rawCall("eth_chainId"))).toBe("0x7a69");
    expect(only.requests).toHaveLength(2);
  });

  it.each([
    [{ kind: "error", code: 3, message: "execution reverted", data: "0x1234" }, "reverted"],
    [{ kind: "error", code: -32602, message: "invalid argument 0" }, "invalid-request"],
    [{ kind: "error", code: -32614, message: "eth_getLogs is limited to a 10,000 range" }, "range-too-large"],
  ] as const)("does not repeat what is final: %j", async (injection, kind) => {
    const [first, second] = [await always(injection), await honest()];
    const { rpc } = createTestRpc([first.url, second.url]);
    const failed = rpc.request(rawCall("eth_getLogs", [{}]));
    await expect(failed).rejects.toMatchObject({ kind, host: first.host });
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
  });

  it("gives up after a bounded number of attempts and says which node failed", async () => {
    const only = await always(DOWN);
    const { rpc } = createTestRpc([only.url], { limits: { attemptsMax: 4 } });
    const error = await rpc.request(rawCall("eth_chainId")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({ code: "NODE_UNAVAILABLE", retry: true, kind: "transient" });
    expect((error as Error).message).toBe(`The node at ${only.host} failed eth_chainId: HTTP status 503.`);
    expect(only.requests).toHaveLength(4);
  });

  it("gives up soon while nothing listens at any address, and at once when that is known", async () => {
    const urls = await Promise.all([honest(), honest()].map(async (each) => (await each).url));
    await Promise.all(nodes.splice(0).map((each) => each.stop()));
    const { rpc, clock, calls } = createTestRpc(urls, { limits: { unreachableMsMax: 1_000 } });
    await expect(rpc.request(head)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE", kind: "unreachable" });
    const waitedMs = () => clock.sleptMs.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs()).toBeLessThanOrEqual(1_000);
    // Each is tried twice at least: a node that restarts may be back.
    expect(calls.length).toBeGreaterThanOrEqual(4);
    for (let count = 0; count < 5; count += 1) await expect(rpc.request(head)).rejects.toThrow();
    const [waited, tried] = [waitedMs(), calls.length];
    await expect(rpc.pinned((one) => one.request(head))).rejects.toThrow("cooling down");
    expect([waitedMs(), calls.length]).toEqual([waited, tried]);
  });

  it("waits as long as Retry-After says, but not longer than the limit", async () => {
    const only = await node(
      planFaults([
        { kind: "status", status: 429, retryAfter: "7" },
        { kind: "status", status: 429, retryAfter: "86400" },
      ]),
    );
    const { rpc, clock } = createTestRpc([only.url]);
    await rpc.request(rawCall("eth_chainId"));
    expect(clock.sleptMs).toEqual([7_000, 60_000]);
  });

  it("pauses longer after each failure", async () => {
    const only = await node((number) => (number < 5 ? DOWN : null));
    const { rpc, clock } = createTestRpc([only.url]);
    await rpc.request(rawCall("eth_chainId"));
    const pauses = clock.sleptMs;
    expect(pauses).toHaveLength(5);
    for (const [i, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(125 * 2 ** i);
      expect(pause).toBeLessThanOrEqual(250 * 2 ** i);
    }
  });

  it("rejects a response that exceeds the limit", async () => {
    const only = await honest();
    const { rpc } = createTestRpc([only.url], { limits: { responseBytesMax: 300 } });
    const failed = rpc.request(rawCall("eth_getBlockByNumber", ["0x1", false]));
    await expect(failed).rejects.toMatchObject({ kind: "response-too-large", code: "LOGS_TOO_LARGE" });
  });

  it("retries when the caller's parser rejects the result", async () => {
    const only = await honest();
    const { rpc, calls } = createTestRpc([only.url]);
    let reads = 0;
    const parse = (result: unknown) => {
      reads += 1;
      if (reads < 3) throw malformedResponse("not the requested block");
      return result;
    };
    expect(await rpc.request({ method: "eth_chainId", params: [], parse })).toBe("0x7a69");
    expect(calls.map((call) => call.outcome)).toEqual(["malformed", "malformed", "ok"]);
  });

  it("ends with the caller's reason when the caller gives up, even in the middle", async () => {
    const only = await always({ kind: "hang" });
    const { rpc } = createTestRpc([only.url], { limits: { requestTimeoutMs: 20_000 } });
    const controller = new AbortController();
    const failed = rpc.request(rawCall("eth_chainId"), { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 30);
    await expect(failed).rejects.toThrow("enough");
  });

  it("ends at once when the client is closed", async () => {
    const only = await always({ kind: "hang" });
    const { rpc } = createTestRpc([only.url], { limits: { requestTimeoutMs: 20_000 } });
    const failed = rpc.request(rawCall("eth_chainId"));
    setTimeout(() => rpc.close(), 30);
    await expect(failed).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(rpc.batch([head])).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  });

  it("keeps to the limit of requests in flight", async () => {
    const only = await honest();
    const { rpc } = createTestRpc([only.url], { limits: { inFlightMax: 2 } });
    await Promise.all(Array.from({ length: 30 }, () => rpc.request(rawCall("eth_chainId"))));
    expect(only.requests).toHaveLength(30);
    expect(only.runningMost).toBeLessThanOrEqual(2);
  });
});

describe("several providers", () => {
  it("prefers the first while it is healthy", async () => {
    const [first, second] = [await honest(), await honest()];
    const { rpc } = createTestRpc([first.url, second.url]);
    for (let i = 0; i < 5; i += 1) await rpc.request(rawCall("eth_chainId"));
    expect([first.requests.length, second.requests.length]).toEqual([5, 0]);
  });

  it("fails over at once, leaves the failing one alone, and returns when it recovers", async () => {
    let broken = true;
    const [first, second] = [await node(() => (broken ? DOWN : null)), await honest()];
    const { rpc, clock } = createTestRpc([first.url, second.url]);
    await rpc.request(rawCall("eth_chainId"));
    expect(clock.sleptMs).toEqual([]);
    for (let i = 0; i < 10; i += 1) await rpc.request(rawCall("eth_chainId"));
    expect([first.requests.length, second.requests.length]).toEqual([1, 11]);
    expect(rpc.providers()[0]).toMatchObject({
      host: first.host,
      state: "cooling-down",
      failures: 1,
      lastFailure: "transient",
    });

    await clock.sleep(1_000);
    await rpc.request(rawCall("eth_chainId"));
    expect(first.requests).toHaveLength(2);
    expect(rpc.providers()[0]).toMatchObject({ state: "cooling-down", failures: 2 });

    broken = false;
    await clock.sleep(2_000);
    await rpc.request(rawCall("eth_chainId"));
    await rpc.request(rawCall("eth_chainId"));
    expect(first.requests).toHaveLength(4);
    expect(rpc.providers()[0]).toMatchObject({ state: "ready", failures: 0 });
  });

  it("sends a single probe to a provider that comes back, and the others elsewhere", async () => {
    const [first, second] = [await node(planFaults([DOWN, { kind: "hang" }])), await honest()];
    const { rpc, clock } = createTestRpc([first.url, second.url], { limits: { requestTimeoutMs: 1_000 } });
    await rpc.request(rawCall("eth_chainId"));
    await clock.sleep(5_000);
    await Promise.all(Array.from({ length: 6 }, () => rpc.request(rawCall("eth_chainId"))));
    expect(first.requests).toHaveLength(2);
  });

  it("counts requests that fail together as one failure", async () => {
    const [first, second] = [await always(DOWN), await honest()];
    const { rpc } = createTestRpc([first.url, second.url]);
    await Promise.all(Array.from({ length: 8 }, () => rpc.request(rawCall("eth_chainId"))));
    expect(rpc.providers()[0]?.failures).toBe(1);
  });

  it.each([
    { kind: "error", code: -32601, message: "the method eth_chainId does not exist/is not available" },
    { kind: "status", status: 401, body: "invalid project id" },
    { kind: "error", code: -32000, message: "header not found" },
  ] as const)("tries another one after $kind $message $status", async (injection) => {
    const [first, second] = [await always(injection), await honest()];
    const { rpc, clock } = createTestRpc([first.url, second.url]);
    expect(await rpc.request(rawCall("eth_chainId"))).toBe("0x7a69");
    expect(clock.sleptMs).toEqual([]);
  });

  it("fails at once when no provider supports a method", async () => {
    const [first, second] = [await honest(), await honest()];
    const { rpc } = createTestRpc([first.url, second.url]);
    await expect(rpc.request(rawCall("eth_foo"))).rejects.toMatchObject({
      kind: "unsupported",
      code: "NODE_REFUSED",
    });
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it("never trusts a provider on another chain", async () => {
    const other = await startLocalChain({ chainId: 84532 });
    try {
      const right = await honest();
      const { rpc } = createTestRpc([other.rpcUrl, right.url], { chainId: 31337 });
      expect(await rpc.request(rawCall("eth_chainId"))).toBe("0x7a69");
      expect(rpc.providers()[0]).toMatchObject({ state: "cooling-down", lastFailure: "wrong-chain" });

      const alone = createTestRpc([other.rpcUrl], { chainId: 31337 }).rpc;
      const error = await alone.request(rawCall("eth_blockNumber")).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "CHAIN_MISMATCH" });
      expect((error as Error).message).toContain("it serves chain 84532, but chain 31337 is expected");
    } finally {
      await other.stop();
    }
  });

  it("checks the chain of a provider again after an outage", async () => {
    const only = await node(planFaults([null, null, { kind: "reset" }]));
    const { rpc } = createTestRpc([only.url], { chainId: 31337 });
    await rpc.request(rawCall("eth_blockNumber"));
    await rpc.request(rawCall("eth_blockNumber"));
    const methods = only.requests.map((calls) => calls[0]?.method);
    expect(methods).toEqual([
      "eth_chainId",
      "eth_blockNumber",
      "eth_blockNumber",
      "eth_chainId",
      "eth_blockNumber",
    ]);
  });

  it("pins related reads to one provider and runs them again elsewhere when it fails", async () => {
    const [first, second] = [await node(planFaults([null, DOWN])), await honest()];
    const { rpc } = createTestRpc([first.url, second.url]);
    const seen: string[] = [];
    const host = await rpc.pinned(async (pinned) => {
      seen.push(pinned.host);
      await pinned.request(rawCall("eth_blockNumber"));
      await pinned.request(rawCall("eth_chainId"));
      return pinned.host;
    });
    expect(host).toBe(second.host);
    expect(seen).toEqual([first.host, second.host]);
    expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
  });

  it("pins another provider if there is one, and the first again otherwise", async () => {
    const [first, second] = [await honest(), await honest()];
    const pair = createTestRpc([first.url, second.url]).rpc;
    expect(await pair.pinned(async ({ host }) => host, { avoid: [0] })).toBe(second.host);
    const alone = createTestRpc([first.url]).rpc;
    expect(await alone.pinned(async ({ host }) => host, { avoid: [0] })).toBe(first.host);
  });
});

describe("a batch", () => {
  const many = Array.from({ length: 25 }, (_, i) =>
    rawCall("eth_getBlockByNumber", [`0x${(i % 6).toString(16)}`, false]),
  );
  const numbers = (results: readonly unknown[]) =>
    results.map((result) => Number((result as { ok: { number: string } }).ok.number));
  const expected = many.map((_, i) => i % 6);

  it("splits a batch at its limit and returns results in the order of the calls", async () => {
    const only = await always({ kind: "reversed" });
    const { rpc } = createTestRpc([only.url], { limits: { batchMax: 10 } });
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    expect(only.requests.map((calls) => calls.length).sort()).toEqual([10, 10, 5]);
  });

  it.each(["left-out", "doubled"] as const)("retries a member that is %s", async (kind) => {
    const only = await node(planFaults([{ kind }]));
    const { rpc } = createTestRpc([only.url]);
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    expect(only.requests.map((calls) => calls.length)).toEqual([25, 1]);
  });

  it("sends members alone that batches keep omitting", async () => {
    const only = await node((_, calls) => (calls.length > 1 ? { kind: "left-out" } : null));
    const { rpc } = createTestRpc([only.url]);
    expect(numbers(await rpc.batch(many))).toEqual(expected);
  });

  it.each([
    { kind: "error", code: -32600, message: "Batch requests are not supported" },
    { kind: "status", status: 400, body: "cannot unmarshal array" },
    { kind: "error", code: -32700, message: "parse error" },
    { kind: "error", code: -32000, message: "Batch limit of 10 exceeded", status: 413 },
    { kind: "error", code: -32005, message: "batch size too large" },
  ] as const)("becomes smaller where a node rejects it: $message $body", async (injection) => {
    const only = await node((_, calls) =>
      calls.length > 10 || ("status" in injection && injection.status === 400 && calls.length > 1)
        ? injection
        : null,
    );
    const { rpc } = createTestRpc([only.url]);
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    const before = only.requests.length;
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    const later = only.requests.slice(before);
    expect(Math.max(...later.map((calls) => calls.length))).toBeLessThanOrEqual(12);
  });

  it("has its full size again ten minutes after a node failed at a whole one", async () => {
    const failure = { kind: "error", code: -32603, message: "internal error" } as const;
    let isFailing = true;
    const only = await node((_, calls) => (isFailing && calls.length > 1 ? failure : null));
    const { rpc, clock } = createTestRpc([only.url]);
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    isFailing = false;
    const counts: number[] = [];
    for (const waitMs of [0, 590_000, 10_000]) {
      await clock.sleep(waitMs);
      const before = only.requests.length;
      expect(numbers(await rpc.batch(many))).toEqual(expected);
      counts.push(only.requests.length - before);
    }
    expect(counts).toEqual([25, 25, 1]);
  });

  it("halves a batch when its response exceeds our limit", async () => {
    const only = await honest();
    const { rpc } = createTestRpc([only.url], { limits: { responseBytesMax: 4_000 } });
    expect(numbers(await rpc.batch(many))).toEqual(expected);
  });

  it("returns the failure of a member with the results of the others", async () => {
    const only = await honest();
    const { rpc } = createTestRpc([only.url]);
    const [good, bad] = await rpc.batch([chainId, rawCall("eth_getBlockByNumber", ["zero", false])]);
    expect(good).toEqual({ ok: "0x7a69" });
    expect(bad).toMatchObject({ error: { kind: "invalid-request" } });
  });

  it("goes to the next provider with what is still open", async () => {
    const [first, second] = [
      await node(() => ({ kind: "member-error", code: -32005, message: "limit exceeded" })),
      await honest(),
    ];
    const { rpc } = createTestRpc([first.url, second.url]);
    expect(numbers(await rpc.batch(many))).toEqual(expected);
    expect(second.requests.map((calls) => calls.length)).toEqual([1]);
  });

  it("returns the failure for every member when all providers fail", async () => {
    const only = await always({ kind: "page" });
    const { rpc } = createTestRpc([only.url]);
    const results = await rpc.batch([head, chainId]);
    expect(results).toHaveLength(2);
    for (const result of results) expect("error" in result && result.error).toBeInstanceOf(RpcError);
  });
});
