// View calls about the past, on a chain that forks and on nodes that keep little.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { EMITTER, EMITTER_CODE, emitLog, encodeTopic } from "@sextant/local-chain/testing/log-emitter";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FaultyNode, startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import { type LaggingNode, startLaggingNode } from "../../tests/support/nodes/lagging-node.ts";
import type { NodeFaultInjection } from "../../tests/support/nodes/node-faults.ts";
import {
  type PrunedNode,
  type PrunedNodeOptions,
  startPrunedNode,
} from "../../tests/support/nodes/pruned-node.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../lib/hex.ts";
import { readHeader } from "./headers.ts";
import { callAtBlocks, callAtLaterBlock, hasLogsSince } from "./historical-state.ts";

/** Responds with the block number: NUMBER, MSTORE, RETURN. */
const CLOCK: Hex = "0x00000000000000000000000000000000000c10c0";
const REVERTER: Hex = "0x000000000000000000000000000000000005a1d0";

let chain: LocalChain;
const nodes: (FaultyNode | LaggingNode | PrunedNode)[] = [];
beforeAll(async () => {
  const code = {
    [EMITTER]: EMITTER_CODE,
    [CLOCK]: "0x4360005260206000f3",
    [REVERTER]: "0x60003560005260206000fd",
  } as const;
  chain = await startLocalChain({ chainId: 31337, code });
  await emitLog(chain, 1);
  await emitLog(chain, 2);
  await chain.mine(200);
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function pruned(options: Partial<PrunedNodeOptions> = {}): Promise<string> {
  const node = await startPrunedNode({ request: chain.request, traces: false, ...options });
  nodes.push(node);
  return node.url;
}
async function failing(injection: NodeFaultInjection): Promise<string> {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: () => injection });
  nodes.push(node);
  return node.url;
}
const rpcTo = (...urls: string[]) => createTestRpc(urls).rpc;

async function callAt(number: number, to: Hex = CLOCK) {
  const { hash } = await readHeader(rpcTo(chain.rpcUrl), number);
  return { to, data: "0x", blockNumber: number, blockHash: hash } as const;
}
const numberOf = (result: Hex | null | undefined) => (result ? Number(result) : null);

describe("calls at their block", () => {
  it("makes each call at the state of its own block", async () => {
    const calls = [await callAt(150), await callAt(20), await callAt(20, REVERTER)];
    const results = await callAtBlocks(rpcTo(chain.rpcUrl), calls);
    expect(results.map(numberOf)).toEqual([150, 20, null]);
  });

  it("has no result if the only node dropped the state, and calls once", async () => {
    const { rpc, calls: made } = createTestRpc([await pruned()]);
    const results = await callAtBlocks(rpc, [await callAt(150), await callAt(20)]);
    expect(results.map(numberOf)).toEqual([150, null]);
    expect(made.filter(({ method }) => method === "eth_call")).toHaveLength(2);
  });

  it("calls the next node if the first one dropped the state", async () => {
    const results = await callAtBlocks(rpcTo(await pruned(), chain.rpcUrl), [
      await callAt(150),
      await callAt(20),
    ]);
    expect(results.map(numberOf)).toEqual([150, 20]);
  });

  it("calls the next node if the first one responds with nothing", async () => {
    const first = await pruned({ onDroppedState: () => "0x" });
    const calls = [await callAt(150), await callAt(20)];
    expect((await callAtBlocks(rpcTo(first, chain.rpcUrl), calls)).map(numberOf)).toEqual([150, 20]);
    expect((await callAtBlocks(rpcTo(first), calls)).map(numberOf)).toEqual([150, null]);
  });

  it("calls succeed with a node down if another one has the state", async () => {
    const down = await failing({ kind: "reset" });
    const calls = [await callAt(150), await callAt(20)];
    expect((await callAtBlocks(rpcTo(down, chain.rpcUrl), calls)).map(numberOf)).toEqual([150, 20]);
    expect((await callAtBlocks(rpcTo(await pruned(), down), calls.slice(0, 1))).map(numberOf)).toEqual([150]);
  });

  it("calls fail while a node is down that may have the state, also when it cools down", async () => {
    const rpc = rpcTo(await pruned(), await failing({ kind: "reset" }));
    const calls = [await callAt(150), await callAt(20)];
    await expect(callAtBlocks(rpc, calls)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
    expect(rpc.providers()[1]?.state).toBe("cooling-down");
    await expect(callAtBlocks(rpc, calls)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
  });

  it("calls do not wait for a node that rejects our key", async () => {
    const rpc = rpcTo(await pruned(), await failing({ kind: "status", status: 401 }));
    const calls = [await callAt(150), await callAt(20)];
    for (const _ of ["requested", "cooling down"]) {
      expect((await callAtBlocks(rpc, calls)).map(numberOf)).toEqual([150, null]);
    }
  });

  it("calls fail if no node responds: then nothing is known about the state", async () => {
    const calls = [await callAt(20)];
    const rpc = rpcTo(await failing({ kind: "reset" }), await failing({ kind: "status", status: 500 }));
    await expect(callAtBlocks(rpc, calls)).rejects.toMatchObject({ code: "NODE_UNAVAILABLE" });
  });
});

describe("calls after their block", () => {
  it("makes old calls at one recent block, which a node with 128 blocks has", async () => {
    const calls = [await callAt(20), await callAt(150), await callAt(20, REVERTER)];
    const { results } = await callAtLaterBlock(rpcTo(await pruned()), calls);
    const head = await readHeader(rpcTo(chain.rpcUrl), "latest");
    expect(results.map(numberOf)).toEqual([head.number - 16, head.number - 16, null]);
  });

  it("makes calls near the head at the newest of their own blocks", async () => {
    const { number } = await readHeader(rpcTo(chain.rpcUrl), "latest");
    const { results } = await callAtLaterBlock(rpcTo(chain.rpcUrl), [
      await callAt(number - 3),
      await callAt(number),
    ]);
    expect(results.map(numberOf)).toEqual([number, number]);
  });

  it("needs no node for an empty list of calls", async () => {
    expect(await callAtLaterBlock(rpcTo(await failing({ kind: "reset" })), [])).toEqual({
      at: null,
      results: [],
    });
  });

  it("later calls fail for a block that a reorg removed, however new the head is", async () => {
    const { number } = await readHeader(rpcTo(chain.rpcUrl), "latest");
    const orphaned = await callAt(number);
    await chain.reorg(2, { blocks: 40 });
    await expect(callAtLaterBlock(rpcTo(chain.rpcUrl), [orphaned])).rejects.toMatchObject({
      code: "BLOCK_MISSING",
    });
  });

  it("later calls fail if the node has not reached the block yet", async () => {
    const { number } = await readHeader(rpcTo(chain.rpcUrl), "latest");
    const future = { ...(await callAt(number)), blockNumber: number + 1 };
    await expect(callAtLaterBlock(rpcTo(chain.rpcUrl), [future])).rejects.toMatchObject({
      code: "BLOCK_MISSING",
    });
  });
});

describe("logs since a block", () => {
  const query = (number: number, fromBlock: number) => ({
    address: EMITTER,
    topics: [encodeTopic(number)],
    fromBlock,
  });

  const recent = async () => {
    const { number } = await readHeader(rpcTo(chain.rpcUrl), "latest");
    return readHeader(rpcTo(chain.rpcUrl), number - 16);
  };

  it("does not search logs on a node that is behind the last searched block", async () => {
    await emitLog(chain, 7);
    const at = await readHeader(rpcTo(chain.rpcUrl), "latest");
    const behind = await startLaggingNode(chain.rpcUrl, 5);
    nodes.push(behind);
    const since = [query(7, at.number - 3)];
    await expect(hasLogsSince(rpcTo(behind.url), since, at)).rejects.toMatchObject({ code: "BLOCK_MISSING" });
    expect(await hasLogsSince(rpcTo(behind.url, chain.rpcUrl), since, at)).toEqual([true]);
  });

  it("says for each query whether there are logs since its block", async () => {
    const queries = [query(1, 1), query(1, 2), query(2, 2), query(3, 1)];
    expect(await hasLogsSince(rpcTo(chain.rpcUrl), queries, await recent())).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("returns null for logs whose range the node rejects, after one request", async () => {
    const message = "eth_getLogs is limited to a 10,000 range";
    const node = await startFaultyNode({
      upstream: chain.rpcUrl,
      plan: (_, [call]) =>
        call?.method === "eth_getLogs" ? { kind: "error", code: -32_005, message } : null,
    });
    nodes.push(node);
    expect(await hasLogsSince(rpcTo(node.url), [query(1, 1)], await recent())).toEqual([null]);
    expect(node.requests.flat().filter(({ method }) => method === "eth_getLogs")).toHaveLength(1);
  });
});
