// What a node's trouble means for a signature: nothing, except that it can not be checked now.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../lib/hex.ts";
import { createAccountReads, unavailableAccountReads } from "./account-reads.ts";

let chain: LocalChain;
const wallet: Hex = `0x${"c0de".repeat(10)}`;
// Returns the word 1.
const CODE: Hex = "0x600160005260206000f3";

beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31_337, code: { [wallet]: CODE } });
});
afterAll(() => chain.stop());

async function reading(injection: NodeFaultInjection | null) {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: () => injection, liesPerCall: 9 });
  const { rpc } = createTestRpc([node.url], { limits: { attemptsMax: 2, requestTimeoutMs: 500 } });
  const reads = createAccountReads(rpc);
  const told = (promise: Promise<unknown>) => promise.catch((error: { code: string }) => error.code);
  const outcome = [await told(reads.readCode(wallet)), await told(reads.call(wallet, "0x"))];
  rpc.close();
  await node.stop();
  return outcome;
}

describe("reads about an account", () => {
  it("give its code and its answer", async () => {
    expect(await reading(null)).toEqual([CODE, `0x${"1".padStart(64, "0")}`]);
  });

  it.each<[string, NodeFaultInjection]>([
    ["is down", { kind: "status", status: 502 }],
    ["refuses the key", { kind: "status", status: 401 }],
    ["shows a web page", { kind: "page" }],
    ["cuts the connection", { kind: "reset" }],
    ["hangs", { kind: "hang" }],
    ["answers nonsense", { kind: "garbage" }],
    ["answers null", { kind: "null-result" }],
    ["does not know the method", { kind: "error", code: -32_601, message: "the method does not exist" }],
    ["is broken inside", { kind: "error", code: -32_603, message: "Internal error" }],
  ])("say only that it can not be checked when the node %s", async (_name, injection) => {
    expect(await reading(injection)).toEqual(["NODE_UNAVAILABLE", "NODE_UNAVAILABLE"]);
  });

  it.each(["execution reverted", "VM execution error.", "out of gas", "invalid opcode: INVALID"])(
    "take %s for the contract's answer",
    async (message) => {
      const [, answer] = await reading({ kind: "error", code: -32_000, message });
      expect(answer).toBeNull();
    },
  );

  it("are impossible without a node, and say so", async () => {
    await expect(unavailableAccountReads.readCode(wallet)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });
});
