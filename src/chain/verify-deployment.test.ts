// The conditions for indexing to begin are checked on every provider.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMITTERS, type LogChain, startLogChain } from "../../tests/support/chain/log-chain.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../lib/hex.ts";
import { verifyDeployment } from "./verify-deployment.ts";

let logs: LogChain;
beforeAll(async () => {
  logs = await startLogChain({ blocks: 1, seed: 1 });
});
afterAll(() => logs.chain.stop());

const [AgentRegistry, IntentBook] = EMITTERS as [Hex, Hex];
const deployment = { chainId: 31337, contracts: { AgentRegistry, IntentBook } };
const UNDEPLOYED: Hex = `0x${"5e".repeat(20)}`;
const DOWN = "http://127.0.0.1:1";

describe("a deployment", () => {
  it("verifies a deployment on every provider that responds", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl, DOWN]);
    const host = new URL(logs.chain.rpcUrl).host;
    expect(await verifyDeployment(rpc, deployment)).toEqual({
      verified: [host],
      unreachable: ["127.0.0.1:1"],
    });
  });

  it("rejects a deployment on another chain, naming both chain ids", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    await expect(verifyDeployment(rpc, { ...deployment, chainId: 8453 })).rejects.toMatchObject({
      code: "CHAIN_MISMATCH",
      message: `The node at ${new URL(logs.chain.rpcUrl).host} serves chain 31337, but the deployment is on chain 8453.`,
    });
    const strict = createTestRpc([logs.chain.rpcUrl], { chainId: 8453 }).rpc;
    await expect(verifyDeployment(strict, { ...deployment, chainId: 8453 })).rejects.toMatchObject({
      code: "CHAIN_MISMATCH",
    });
  });

  it("rejects a deployment when only a fallback is on another chain", async () => {
    const other = await startLogChain({ blocks: 1, seed: 1, chainId: 8453 });
    try {
      const { rpc } = createTestRpc([logs.chain.rpcUrl, other.chain.rpcUrl]);
      await expect(verifyDeployment(rpc, deployment)).rejects.toThrow("serves chain 8453");
    } finally {
      await other.chain.stop();
    }
  });

  it("rejects a deployment without code, naming the contract and its address", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const contracts = { AgentRegistry, IntentBook: UNDEPLOYED };
    await expect(verifyDeployment(rpc, { chainId: 31337, contracts })).rejects.toMatchObject({
      code: "CHAIN_MISMATCH",
      message: `The node at ${new URL(logs.chain.rpcUrl).host} has no code for IntentBook at ${UNDEPLOYED} on chain 31337.`,
    });
  });

  it("does not verify a deployment when no provider responds", async () => {
    const { rpc } = createTestRpc([DOWN]);
    await expect(verifyDeployment(rpc, deployment)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
      retry: true,
    });
  });
});
