// Headers from a real chain through a node that lies.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type LogChain, startLogChain } from "../../tests/support/chain/log-chain.ts";
import { type FaultyNode, planFaults, startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import { readHeader, readHeaderByHash, readHeaders } from "./headers.ts";
import { rawCall } from "./rpc/types.ts";

let logs: LogChain;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  logs = await startLogChain({ blocks: 12, seed: 2 });
});
afterAll(() => logs.chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
async function through(...injections: (NodeFaultInjection | null)[]) {
  const node = await startFaultyNode({
    upstream: logs.chain.rpcUrl,
    plan: planFaults(injections),
    liesPerCall: 9,
  });
  nodes.push(node);
  return { node, rpc: createTestRpc([node.url]).rpc };
}

describe("a header", () => {
  it("reads a header by number, by tag and by hash", async () => {
    const { rpc } = await through();
    const latest = await readHeader(rpc, "latest");
    expect(latest.number).toBe(12);
    expect(await readHeader(rpc, 12)).toEqual(latest);
    expect(await readHeaderByHash(rpc, latest.hash)).toEqual(latest);
    expect((await readHeader(rpc, 11)).hash).toBe(latest.parentHash);
  });

  it("reports a header that does not exist as missing, to be retried", async () => {
    const { rpc } = await through();
    await expect(readHeader(rpc, 99)).rejects.toMatchObject({
      code: "BLOCK_MISSING",
      kind: "missing",
      retry: true,
    });
    await expect(readHeaderByHash(rpc, `0x${"12".repeat(32)}`)).rejects.toMatchObject({ kind: "missing" });
  });

  it("requests a header again if its time is beyond any date, which no response could show", async () => {
    const { rpc, node } = await through();
    const block = (await rpc.request(rawCall("eth_getBlockByNumber", ["0x5", false]))) as object;
    const withTime = (timestamp: string) => ({ kind: "result" as const, result: { ...block, timestamp } });
    const lying = await through(withTime("0x7dba8218001"), withTime("0x7dba8218000"));
    expect((await readHeader(lying.rpc, 5)).timestamp).toBe(8_640_000_000_000);
    expect([node.requests.length, lying.node.requests.length]).toEqual([1, 2]);
  });

  it("requests a header again if the node sends that of another block", async () => {
    const { rpc, node } = await through(
      { kind: "other-block" },
      { kind: "garbage" },
      { kind: "null-result" },
    );
    expect((await readHeader(rpc, 5)).number).toBe(5);
    expect(node.requests).toHaveLength(4);
    const latest = await readHeader(rpc, "latest");
    const lying = await through({ kind: "wrong-hash" });
    expect(await readHeaderByHash(lying.rpc, latest.hash)).toEqual(latest);
    expect(lying.node.requests).toHaveLength(2);
  });
});

describe("headers", () => {
  it("reads headers in the requested order, from one batch", async () => {
    const { rpc, node } = await through();
    const headers = await readHeaders(rpc, [7, 3, 4, 7]);
    expect(headers.map((header) => header.number)).toEqual([7, 3, 4, 7]);
    expect(node.requests).toHaveLength(1);
    expect(await readHeaders(rpc, [])).toEqual([]);
  });

  it("reads headers again that are not linked to their neighbours", async () => {
    const { rpc, node } = await through({ kind: "wrong-hash" });
    const headers = await readHeaders(rpc, [1, 2, 3]);
    expect(headers).toEqual(await Promise.all([1, 2, 3].map((number) => readHeader(rpc, number))));
    expect(node.requests.length).toBeGreaterThan(4);
  });

  it("reports missing headers if one of several is missing", async () => {
    const { rpc } = await through();
    await expect(readHeaders(rpc, [11, 12, 13])).rejects.toMatchObject({ kind: "missing" });
  });
});
