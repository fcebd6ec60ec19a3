// Finality: by tag, by depth, never above the head, never backwards.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type LocalChain, startLocalChain } from "../../contracts/local-chain/local-chain.ts";
import { type FaultyNode, type FaultyNodeOptions, startFaultyNode } from "../../tests/support/faulty-node.ts";
import type { Call } from "../../tests/support/injections.ts";
import { createTestRpc } from "../../tests/support/test-rpc.ts";
import { readHeader } from "./blocks.ts";
import { readFinalized } from "./finality.ts";

let chain: LocalChain;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337, blockTimeMs: 0, finalityDepth: 10 });
  await chain.mine(30);
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
async function node(plan: FaultyNodeOptions["plan"], liesPerQuestion = 99): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: chain.rpcUrl, plan, liesPerQuestion });
  nodes.push(started);
  return started;
}
const asksForTag = (calls: readonly Call[]) => calls.some((call) => call.params[0] === "finalized");

describe("the finalized block", () => {
  it("is the node's own where it knows the tag", async () => {
    const { rpc } = createTestRpc([chain.rpcUrl]);
    expect(await readFinalized(rpc, { depthFallback: 3 })).toEqual(await readHeader(rpc, 20));
  });

  it.each([
    { kind: "member-error", code: -32602, message: "invalid argument 0: hex string without 0x prefix" },
    { kind: "member-error", code: -39001, message: "finalized block not found" },
    { kind: "member-error", code: -32601, message: "the method is not available" },
  ] as const)("is a number of blocks below the head where it does not: $message", async (injection) => {
    const only = await node((_, calls) => (asksForTag(calls) ? injection : null));
    const { rpc } = createTestRpc([only.url]);
    expect((await readFinalized(rpc, { depthFallback: 3 })).number).toBe(27);
    expect((await readFinalized(createTestRpc([only.url]).rpc, { depthFallback: 999 })).number).toBe(0);
  });

  it("is not guessed when the node only fails", async () => {
    const only = await node((_, calls) => (asksForTag(calls) ? { kind: "status", status: 500 } : null));
    const { rpc } = createTestRpc([only.url]);
    await expect(readFinalized(rpc, { depthFallback: 3 })).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });

  it("never goes back, and is never above the head", async () => {
    const { rpc } = createTestRpc([chain.rpcUrl]);
    const before = await readFinalized(rpc, { depthFallback: 3 });
    await chain.reorg(5, { blocks: 1 });
    expect(await readFinalized(rpc, { depthFallback: 3 })).toEqual(before);
    await chain.mine(20);
    expect((await readFinalized(rpc, { depthFallback: 3 })).number).toBeGreaterThan(before.number);

    // One lie per question: the one about the head is used up first, so the next batch lies about the tag alone.
    const lying = await node(() => ({ kind: "other-block" }), 1);
    const other = createTestRpc([lying.url]).rpc;
    await readHeader(other, "latest");
    const head = await readHeader(rpc, "latest");
    expect((await readFinalized(other, { depthFallback: 3 })).number).toBeLessThanOrEqual(head.number);
    // The head; the tag with a lie; the tag, and that block with a lie; both once more.
    expect(lying.requests).toHaveLength(6);
  });

  it("is a block that exists, also where the node lies about head and finality in one breath", async () => {
    const lying = await node((number) => (number === 0 ? { kind: "other-block" } : null));
    const { rpc } = createTestRpc([lying.url]);
    const honest = await readFinalized(createTestRpc([chain.rpcUrl]).rpc, { depthFallback: 3 });
    expect(await readFinalized(rpc, { depthFallback: 3 })).toEqual(honest);
    expect(await readFinalized(rpc, { depthFallback: 3 })).toEqual(honest);
  });
});
