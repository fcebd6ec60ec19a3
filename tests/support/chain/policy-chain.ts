// A local chain with the protocol, indexed and served, whose clock moves by exact seconds: for tests of preflight.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { JsonRpcError } from "@sextant/local-chain/rpc/json-rpc-error";
import type { Address, Hex } from "viem";
import { expect } from "vitest";
import { openApiClient } from "../http/api-client.ts";
import { startTestApi } from "../http/test-api.ts";
import { startTestIndex, toDeployment } from "../index/test-index.ts";

type Parts = readonly { kind: string; text: string; amount?: string; token?: string | null }[];

export type PreflightRequest = {
  readonly action_parts?: Parts;
  readonly reason_parts?: readonly Parts[];
  readonly allowed: boolean;
  readonly action: string;
  readonly reasons: readonly string[];
  readonly missing_policies: readonly string[];
  readonly spend_checks: readonly { token: string; attempted: string; ok: boolean }[];
  readonly required_policy_updates: readonly {
    policy_type: string;
    suggested_value: unknown;
    to: Address;
    data: Hex;
  }[];
};

export type PlannedCall = {
  readonly account: Address;
  readonly target: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly include?: "parts";
  readonly session_key?: Address;
};

export type PolicyChain = Awaited<ReturnType<typeof startPolicyChain>>;

export async function startPolicyChain() {
  const chain = await startLocalChain({
    chainId: 31_337,
    genesisTimestamp: 2_000_000_000n,
    reorgDepthMax: 0,
    code: LOCAL_GENESIS_CODE,
  });
  const deployment = await deploy({ request: chain.request, owner: chain.accounts.owner });
  const index = await startTestIndex({
    urls: [chain.rpcUrl, chain.wsUrl],
    deployment: toDeployment(deployment),
  });
  const api = await startTestApi(index.database);
  const client = await openApiClient(api.url);
  let now = 2_000_100_000n;

  const moveOn = async (seconds: bigint) => {
    now += seconds;
    await chain.setNextBlockTimestamp(now);
  };

  return {
    chain,
    client,
    policyModule: deployment.contracts.PolicyModule,
    local: deployment.local,
    /** The time of the head, once something was sent or mined here. */
    now: () => now,
    /** Sends in a block that comes exactly so many seconds after the last one; returns the contract it created. */
    async sendAfter(seconds: bigint, from: Address, to: Address | null, data: Hex): Promise<Address | null> {
      await moveOn(seconds);
      const transaction = { from, ...(to === null ? {} : { to }), data, gas: "0x4c4b40", gasPrice: "0x0" };
      const hash = await chain.request("eth_sendTransaction", [transaction]);
      const receipt = await chain.request("eth_getTransactionReceipt", [hash]);
      const { status, contractAddress } = receipt as { status: Hex; contractAddress: Address | null };
      return status === "0x1" ? contractAddress : null;
    },
    async mineAfter(seconds: bigint): Promise<void> {
      await moveOn(seconds);
      await chain.mine();
    },
    /** The error with which a call at the head reverts; null when it passes. */
    async revertOf(from: Address, to: Address, data: Hex): Promise<Hex | null> {
      try {
        await chain.request("eth_call", [{ from, to, data, gasPrice: "0x0" }, "latest"]);
        return null;
      } catch (error) {
        if (!(error instanceof JsonRpcError) || error.data === undefined) throw error;
        return error.data;
      }
    },
    /** Waits until the head is indexed; returns its number. */
    async synced(): Promise<bigint> {
      const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as HeadBlock;
      await index.waitUntilIndexed({ number: Number(head.number), hash: head.hash });
      return BigInt(head.number);
    },
    async preflight(planned: PlannedCall, query = ""): Promise<PreflightRequest> {
      const body = { ...planned, value: planned.value.toString() };
      const response = await client.call(`/preflight${query}`, { method: "POST", body });
      expect(response.status, response.text).toBe(200);
      return response.body as PreflightRequest;
    },
    async close(): Promise<void> {
      await api.close();
      await index.close();
      await chain.stop();
    },
  };
}

type HeadBlock = { readonly number: Hex; readonly hash: string };
