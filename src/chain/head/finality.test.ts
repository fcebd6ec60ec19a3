// Finality: by tag, by depth, never above the head, never backwards.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import type { NodeRpcCall } from "../../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { readHeader } from "../headers.ts";
import { getClaimedSafeBlock, readFinalizedHeader } from "./finality.ts";

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
async function node(plan: FaultyNodeOptions["plan"], liesPerCall = 99): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: chain.rpcUrl, plan, liesPerCall });
  nodes.push(started);
  return started;
}
const asksForTag = (calls: readonly NodeRpcCall[]) => calls.some((call) => call.params[0] === "finalized");

describe("the finalized block", () => {
  it("takes the node's own finalized block if it knows the tag", async () => {
    const { rpc } = createTestRpc([chain.rpcUrl]);
    expect(await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).toEqual(
      await readHeader(rpc, 20),
    );
  });

  it.each([
    { kind: "member-error", code: -32602, message: "invalid argument 0: hex string without 0x prefix" },
    { kind: "member-error", code: -39001, message: "finalized block not found" },
    { kind: "member-error", code: -32601, message: "the method is not available" },
  ] as const)(
    "takes a depth below the head if the node does not know the tag: $message",
    async (injection) => {
      const only = await node((_, calls) => (asksForTag(calls) ? injection : null));
      const { rpc } = createTestRpc([only.url]);
      expect((await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).number).toBe(27);
      expect(
        (await readFinalizedHeader(createTestRpc([only.url]).rpc, { depthFallback: 999, depthMin: 0 }))
          .number,
      ).toBe(0);
    },
  );

  it("comes with the safe block only if that is requested", async () => {
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 });
    const asked = () => only.requests.flatMap((calls) => calls.map(({ params }) => params[0]));
    expect(asked()).not.toContain("safe");
    expect(getClaimedSafeBlock(rpc)).toBeNull();
    await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0, withSafe: true });
    expect(asked()).toContain("safe");
    expect(getClaimedSafeBlock(rpc)).toBe(20);
    // Who does not ask leaves what is known.
    await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 });
    expect(getClaimedSafeBlock(rpc)).toBe(20);
  });

  it("does not guess the finalized block when the node only fails", async () => {
    const only = await node((_, calls) => (asksForTag(calls) ? { kind: "status", status: 500 } : null));
    const { rpc } = createTestRpc([only.url]);
    await expect(readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });

  it("never moves the finalized block back, nor above the head", async () => {
    const { rpc } = createTestRpc([chain.rpcUrl]);
    const before = await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 });
    await chain.reorg(5, { blocks: 1 });
    expect(await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).toEqual(before);
    await chain.mine(20);
    expect((await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).number).toBeGreaterThan(
      before.number,
    );

    // One lie per call: the one about the head is used up first, so the next batch lies about the tag alone.
    const lying = await node(() => ({ kind: "other-block" }), 1);
    const other = createTestRpc([lying.url]).rpc;
    await readHeader(other, "latest");
    const head = await readHeader(rpc, "latest");
    expect((await readFinalizedHeader(other, { depthFallback: 3, depthMin: 0 })).number).toBeLessThanOrEqual(
      head.number,
    );
    // The head; the tag with a lie; the tag, and that block with a lie; both once more.
    expect(lying.requests).toHaveLength(6);
  });

  it("takes an existing block, also if a node lies about head and finality at once", async () => {
    const lying = await node((number) => (number === 0 ? { kind: "other-block" } : null));
    const { rpc } = createTestRpc([lying.url]);
    const honest = await readFinalizedHeader(createTestRpc([chain.rpcUrl]).rpc, {
      depthFallback: 3,
      depthMin: 0,
    });
    expect(await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).toEqual(honest);
    expect(await readFinalizedHeader(rpc, { depthFallback: 3, depthMin: 0 })).toEqual(honest);
  });
});

describe("a node that claims too much or too little finality", () => {
  const FINALITY = { depthFallback: 3, depthMin: 0 };
  const claiming = (block: string) => node(() => ({ kind: "final-at", block }));
  let head = 0;
  let honest = 0;
  beforeAll(async () => {
    const { rpc } = createTestRpc([chain.rpcUrl]);
    head = (await readHeader(rpc, "latest")).number;
    honest = (await readHeader(rpc, "finalized")).number;
    expect(honest).toBe(head - 10);
  });

  it("does not move it above what another node says", async () => {
    const liar = await claiming("latest");
    for (const urls of [
      [liar.url, chain.rpcUrl],
      [chain.rpcUrl, liar.url],
    ]) {
      const { rpc } = createTestRpc(urls);
      expect((await readFinalizedHeader(rpc, { depthFallback: 12, depthMin: 0 })).number).toBe(honest);
    }
  });

  it("believes one node down to the fallback depth while no other responds", async () => {
    const liar = await claiming("latest");
    const down = await node(() => ({ kind: "status", status: 500 }));
    const { rpc } = createTestRpc([liar.url, down.url]);
    expect((await readFinalizedHeader(rpc, FINALITY)).number).toBe(head - 3);
  });

  it("does not wait long for a node that hangs, and uses its response when it comes late", async () => {
    const liar = await claiming("latest");
    const hanging = await node(() => ({ kind: "hang" }));
    const { rpc } = createTestRpc([liar.url, hanging.url], { limits: { requestTimeoutMs: 60_000 } });
    const finality = { ...FINALITY, waitMsMax: 50 };
    expect((await readFinalizedHeader(rpc, finality)).number).toBe(head - 3);
    expect((await readFinalizedHeader(rpc, finality)).number).toBe(head - 3);
    expect(hanging.requests).toHaveLength(1);
    rpc.close();
  });

  it("stays the minimum depth below the head when it is the only node", async () => {
    const liar = await claiming("latest");
    const { rpc } = createTestRpc([liar.url]);
    expect((await readFinalizedHeader(rpc, { depthFallback: 20, depthMin: 4 })).number).toBe(head - 4);
  });

  it("does not hold it back below the fallback depth", async () => {
    const behind = await claiming("0x1");
    for (const urls of [
      [behind.url, chain.rpcUrl],
      [chain.rpcUrl, behind.url],
    ]) {
      const { rpc } = createTestRpc(urls);
      expect((await readFinalizedHeader(rpc, { depthFallback: 15, depthMin: 0 })).number).toBe(head - 15);
    }
  });

  it("reads from the other node only when finality would advance", async () => {
    const [first, second] = [await node(() => null), await node(() => null)];
    const { rpc } = createTestRpc([first.url, second.url]);
    const finality = { depthFallback: 12, depthMin: 0 };
    for (let i = 0; i < 5; i += 1) expect((await readFinalizedHeader(rpc, finality)).number).toBe(honest);
    expect(second.requests).toHaveLength(1);
    expect(first.requests).toHaveLength(6);
  });
});
