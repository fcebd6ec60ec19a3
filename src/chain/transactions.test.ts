// The calls of real transactions, as the local chain traces them.

import { MULTICALL3_ADDRESS } from "@sextant/contracts/deploy/deploy";
import { multicall3Abi, multicall3RuntimeBytecode } from "@sextant/contracts/generated/multicall3";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { encodeFunctionData } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FaultyNode, startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../lib/hex.ts";
import { createCallTracer } from "./transactions.ts";

/** Takes everything. */
const SINK: Hex = "0x00000000000000000000000000000000000051c0";
/** Calls the sink with its own calldata, then reverts. */
const REGRETTER: Hex = "0x00000000000000000000000000000000000de6e7";
/** Runs the code of the sink in its own name. */
const DELEGATOR: Hex = "0x0000000000000000000000000000000000b02200";
const SINK_DIGITS = SINK.slice(2);

let chain: LocalChain;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  const code: Record<Hex, Hex> = {
    [MULTICALL3_ADDRESS]: multicall3RuntimeBytecode,
    [SINK]: "0x00",
    // CALLDATACOPY(0, 0, size); CALL(gas, sink, 0, 0, size, 0, 0); REVERT(0, 0)
    [REGRETTER]: `0x3660006000376000600036600060007300${SINK_DIGITS}5af160006000fd`.replace(
      "7300",
      "73",
    ) as Hex,
    // CALLDATACOPY(0, 0, size); DELEGATECALL(gas, sink, 0, size, 0, 0)
    [DELEGATOR]: `0x3660006000376000600036600073${SINK_DIGITS}5af400`,
  };
  chain = await startLocalChain({ chainId: 31337, code });
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function multicall(...calls: readonly (readonly [Hex, Hex])[]): Promise<Hex> {
  const args = [calls.map(([target, callData]) => ({ target, allowFailure: true, callData }))] as const;
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args });
  const from = chain.accounts.agent.address;
  return (await chain.request("eth_sendTransaction", [{ from, to: MULTICALL3_ADDRESS, data }])) as Hex;
}

async function through(
  plan: (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null,
): Promise<FaultyNode> {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: (_, calls) => plan(calls) });
  nodes.push(node);
  return node;
}
const tracesIn = ({ requests }: FaultyNode) =>
  requests.flat().filter(({ method }) => method === "debug_traceTransaction").length;

describe("a trace", () => {
  it("traces the calls that took effect, in order, without undone and delegated ones", async () => {
    const hash = await multicall([SINK, "0x01"], [REGRETTER, "0x02"], [DELEGATOR, "0x03"], [SINK, "0x04"]);
    const traces = await createCallTracer(createTestRpc([chain.rpcUrl]).rpc)([hash]);
    const inner = traces.get(hash)?.slice(1);
    expect(traces.get(hash)?.[0]?.to).toBe(MULTICALL3_ADDRESS);
    expect(inner).toEqual([
      { to: SINK, input: "0x01" },
      { to: DELEGATOR, input: "0x03" },
      { to: SINK, input: "0x04" },
    ]);
  });

  it("has no trace of a transaction that the node does not know", async () => {
    const traces = await createCallTracer(createTestRpc([chain.rpcUrl]).rpc)([`0x${"12".repeat(32)}`]);
    expect(traces.size).toBe(0);
  });

  it.each<[string, NodeFaultInjection]>([
    [
      "has no such method",
      { kind: "error", code: -32_601, message: "the method does not exist/is not available" },
    ],
    ["has no such tracer", { kind: "error", code: -32_602, message: "tracer not found" }],
    ["wants a better plan", { kind: "error", code: -32_600, message: "not available on your plan" }],
  ])("requests traces once from a node that %s, and then from the next", async (_, rejection) => {
    const hashes = [await multicall([SINK, "0x05"]), await multicall([SINK, "0x06"])];
    const without = await through(([call]) => (call?.method === "debug_traceTransaction" ? rejection : null));
    const tracer = createCallTracer(createTestRpc([without.url, chain.rpcUrl]).rpc);
    expect((await tracer(hashes)).size).toBe(2);
    expect((await tracer(hashes)).size).toBe(2);
    expect(tracesIn(without)).toBe(1);
  });

  it("requests further traces from a node that lacked the state of one block", async () => {
    const hashes = [await multicall([SINK, "0x07"]), await multicall([SINK, "0x08"])];
    const pruned: NodeFaultInjection = {
      kind: "error",
      code: -32_000,
      message: "required historical state unavailable (reexec=128)",
    };
    const node = await through(([call]) => (call?.params[0] === hashes[0] ? pruned : null));
    const tracer = createCallTracer(createTestRpc([node.url]).rpc);
    expect([...(await tracer(hashes)).keys()]).toEqual([hashes[1]]);
    expect(tracesIn(node)).toBe(2);
  });
});
