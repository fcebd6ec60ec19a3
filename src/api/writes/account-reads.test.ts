// A node failure says nothing about a signature, except that it cannot be verified now.
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../../lib/hex.ts";
import { createAccountReads, unavailableAccountReads } from "./verify-signature.ts";

let chain: LocalChain;
const wallet: Hex = `0x${"c0de".repeat(10)}`;
// Returns the word 1.
const CODE: Hex = "0x600160005260206000f3";

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, code: { [wallet]: CODE } });
});
afterAll(() => chain.stop());

async function readWithFault(injection: NodeFaultInjection | null) {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: () => injection, liesPerCall: 9 });
  const { rpc } = createTestRpc([node.url], { limits: { attemptsMax: 2, requestTimeoutMs: 500 } });
  const reads = createAccountReads(rpc);
  const orCode = (promise: Promise<unknown>) => promise.catch((error: { code: string }) => error.code);
  const results = [await orCode(reads.readCode(wallet)), await orCode(reads.call(wallet, "0x"))];
  rpc.close();
  await node.stop();
  return results;
}

describe("account reads", () => {
  it("returns code and return data", async () => {
    expect(await readWithFault(null)).toEqual([CODE, `0x${"1".padStart(64, "0")}`]);
  });

  it.each<[string, NodeFaultInjection]>([
    ["is down", { kind: "status", status: 502 }],
    ["rejects the API key", { kind: "status", status: 401 }],
    ["shows a web page", { kind: "page" }],
    ["cuts the connection", { kind: "reset" }],
    ["hangs", { kind: "hang" }],
    ["returns garbage", { kind: "garbage" }],
    ["returns null", { kind: "null-result" }],
    ["does not know the method", { kind: "error", code: -32_601, message: "the method does not exist" }],
    ["is broken inside", { kind: "error", code: -32_603, message: "Internal error" }],
  ])("throws NODE_UNAVAILABLE when the node %s", async (_name, injection) => {
    expect(await readWithFault(injection)).toEqual(["NODE_UNAVAILABLE", "NODE_UNAVAILABLE"]);
  });

  it.each(["execution reverted", "VM execution error.", "out of gas", "invalid opcode: INVALID"])(
    "returns null when the call fails with: %s",
    async (message) => {
      const [, returned] = await readWithFault({ kind: "error", code: -32_000, message });
      expect(returned).toBeNull();
    },
  );

  it("throws NODE_UNAVAILABLE without a configured node", async () => {
    await expect(unavailableAccountReads.readCode(wallet)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });
});
