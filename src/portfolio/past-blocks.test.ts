// Blocks that a request names, on a real chain: pinned by hash, over nodes that have dropped, miss or invent state.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Hex, numberToHex } from "viem";
import { afterAll, describe, expect, it } from "vitest";
import { startLaggingNode } from "../../tests/support/nodes/lagging-node.ts";
import { type PrunedNodeOptions, startPrunedNode } from "../../tests/support/nodes/pruned-node.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import { localChainConfig, startPortfolioStage } from "../../tests/support/portfolio/portfolio-stage.ts";
import { createChainAccess } from "./chain-access.ts";

const HEAD = 300;
const CLOCK: Hex = "0x00000000000000000000000000000000000000c1";
const stage = await startPortfolioStage({ [CLOCK]: "0x435f5260205ff3" });
const { chain, wallet } = stage;
const { signal } = new AbortController();
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});
const word = (value: number | bigint) => numberToHex(value, { size: 32 });
const headNumber = async () => Number(await chain.request("eth_blockNumber", []));

await chain.mine(100);
await chain.request("hardhat_setBalance", [wallet, numberToHex(5n)]);
await chain.mine(195 - (await headNumber()));
await chain.request("evm_increaseTime", [1_000]);
await chain.mine(HEAD - (await headNumber()));

async function prunedNode(options: Partial<PrunedNodeOptions> = {}) {
  const node = await startPrunedNode({ request: chain.request, traces: false, ...options });
  stops.push(node.stop);
  return node;
}

function accessTo(...urls: readonly string[]) {
  const { rpc, clock, calls } = createTestRpc(urls);
  return { access: createChainAccess(rpc, localChainConfig([]), clock), rpc, clock, calls };
}

const readNumber = async (access: ReturnType<typeof accessTo>["access"], block: number) => {
  const at = await access.pin(signal, block);
  const read = await at.read([{ to: CLOCK, data: "0x" }], signal);
  return { at, read };
};

describe("a block that the request names", () => {
  it("pins a named block by its hash, so that every read is of that block", async () => {
    const { access } = accessTo(chain.rpcUrl);
    const { at, read } = await readNumber(access, 42);
    const header = (await chain.request("eth_getBlockByNumber", [numberToHex(42), false])) as { hash: Hex };
    expect(at).toMatchObject({ asOf: true, block: { number: 42, hash: header.hash } });
    expect(read).toEqual([word(42)]);
    expect(await at.callWithOverride({ code: "0x435f5260205ff3", data: "0x" }, signal)).toBe(word(42));
    expect(await at.nativeBalance(wallet, signal)).not.toBe(5n);
    const later = await access.pin(signal, 200);
    expect(await later.nativeBalance(wallet, signal)).toBe(5n);
    const [earlier] = (await later.readEarlier?.(60, [{ to: CLOCK, data: "0x" }], signal)) ?? [];
    expect(Number(earlier)).toBeLessThan(195);
  });

  it("accepts the head as a named block, and rejects later ones with an error that names the head", async () => {
    const { access } = accessTo(chain.rpcUrl);
    expect((await readNumber(access, HEAD)).read).toEqual([word(HEAD)]);
    for (const block of [HEAD + 1, 999_999_999_999_999]) {
      await expect(access.pin(signal, block)).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: `The newest block of Local chain is ${HEAD}; ${block} is later.`,
      });
    }
  });

  it("reads a named block from the node that has its state, never from one that dropped it", async () => {
    const pruned = await prunedNode();
    const { access, calls } = accessTo(pruned.url, chain.rpcUrl);
    const { read } = await readNumber(access, 42);
    expect(read).toEqual([word(42)]);
    const host = new URL(pruned.url).host;
    // The proof itself, and no read after it.
    expect(calls.filter(({ provider, method }) => provider === host && method === "eth_call")).toHaveLength(
      1,
    );
  });

  it.each([
    ["an empty result, as on an empty state", "0x"],
    ["the time of another block", word(1)],
    ["a word of nothing", word(0)],
  ])("reads no named block from a node that invents: %s", async (_name, result) => {
    const liar = await prunedNode({ onDroppedState: () => result });
    const { access } = accessTo(liar.url, chain.rpcUrl);
    expect((await readNumber(access, 42)).read).toEqual([word(42)]);
    const alone = accessTo(liar.url);
    await expect(alone.access.pin(signal, 42)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  it("reads a named block from the node that has reached it", async () => {
    const lagging = await startLaggingNode(chain.rpcUrl);
    stops.push(lagging.stop);
    lagging.behind = 5;
    const { access } = accessTo(lagging.url, chain.rpcUrl);
    expect((await readNumber(access, HEAD - 2)).read).toEqual([word(HEAD - 2)]);
    await expect(accessTo(lagging.url).access.pin(signal, HEAD - 2)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: `The newest block of Local chain is ${HEAD - 5}; ${HEAD - 2} is later.`,
    });
  });

  it("rejects a named block as NODE_UNAVAILABLE while a node is down", async () => {
    const pruned = await prunedNode();
    const down = await stage.node(() => ({ kind: "status", status: 503 }));
    await expect(accessTo(pruned.url, down.url).access.pin(signal, 42)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });
});

describe("a state that every node has dropped", () => {
  const oldest = HEAD - 127;

  it("names the oldest state found, in few requests, and remembers it", async () => {
    const pruned = await prunedNode();
    const { access, clock } = accessTo(pruned.url);
    const failed = await access.pin(signal, 3).catch((error) => error);
    expect(failed).toMatchObject({ code: "STATE_UNAVAILABLE" });
    const named = Number(/found is (\d+),/.exec(failed.message)?.[1]);
    // Within a few blocks of the truth, and certainly with state.
    expect(named).toBeGreaterThanOrEqual(oldest);
    expect(named).toBeLessThanOrEqual(oldest + 3);
    expect((await readNumber(access, named)).read).toEqual([word(named)]);
    const probes = pruned.counts.get("eth_call") ?? 0;
    expect(probes).toBeLessThanOrEqual(1 + 12 + 2);
    await expect(access.pin(signal, 3)).rejects.toMatchObject({ message: failed.message });
    expect(pruned.counts.get("eth_call")).toBe(probes);
    await clock.sleep(5 * 60_000);
    await expect(access.pin(signal, 3)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(pruned.counts.get("eth_call")).toBeGreaterThan(probes);
  });

  it("concurrent requests search the oldest state once, also when the first of them ends", async () => {
    const pruned = await prunedNode();
    const { access } = accessTo(pruned.url);
    const first = new AbortController();
    const requests = [3, 4, 5, 6, 7].map((block, index) =>
      access.pin(index === 0 ? first.signal : signal, block).catch((error) => error),
    );
    // The proof of each has been asked for; the search has begun.
    while ((pruned.counts.get("eth_call") ?? 0) <= requests.length) await nextTurn();
    first.abort(new Error("the first has left"));
    const [left, ...others] = await Promise.all(requests);
    expect(left.message).toBe("the first has left");
    expect(others.map(({ code }) => code)).toEqual(others.map(() => "STATE_UNAVAILABLE"));
    const named = others.map(({ message }) => /found is (\d+),/.exec(message)?.[1]);
    expect(new Set(named).size).toBe(1);
    expect(pruned.counts.get("eth_call")).toBeLessThanOrEqual(requests.length + 12);
  });

  it("searches once for blocks that nodes drop soon after a search", async () => {
    let kept = 100;
    const node = await prunedNode({ blocksWithState: () => kept });
    const { access, clock } = accessTo(node.url);
    await expect(access.pin(signal, 3)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    const probes = node.counts.get("eth_call") ?? 0;
    for (kept = 90; kept >= 50; kept -= 10) {
      await expect(access.pin(signal, HEAD - kept)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    }
    kept = 10;
    // The proof of each, and no search.
    expect(node.counts.get("eth_call")).toBe(probes + 5);
    await clock.sleep(30_000);
    await expect(access.pin(signal, HEAD - 40)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(node.counts.get("eth_call")).toBeGreaterThan(probes + 7);
  });

  it("knows for a minute which blocks can be pinned, and for longer which cannot", async () => {
    const pruned = await prunedNode();
    const { access, clock } = accessTo(pruned.url);
    expect(access.canPin(HEAD - 20)).toBe(false);
    await access.pin(signal, HEAD - 20);
    expect([HEAD - 21, HEAD - 20, HEAD, HEAD + 1].map(access.canPin)).toEqual([false, true, true, false]);
    await access.pin(signal, HEAD - 10);
    await clock.sleep(59_000);
    expect(access.canPin(HEAD - 20)).toBe(true);
    await clock.sleep(1_000);
    expect(access.canPin(HEAD - 20)).toBe(false);
    await expect(access.pin(signal, 3)).rejects.toThrow();
    expect(() => access.canPin(3)).toThrow(/has the state of block 3/);
  });

  it("states above the oldest found block stay readable", async () => {
    const pruned = await prunedNode();
    const { access } = accessTo(pruned.url);
    await expect(access.pin(signal, 3)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect((await readNumber(access, HEAD - 20)).read).toEqual([word(HEAD - 20)]);
  });
});
