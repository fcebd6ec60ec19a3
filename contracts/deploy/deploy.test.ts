// A deployment is complete, quick, and described the way the indexer reads it.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { createPublicClient, http } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { intentBookAbi } from "../generated/intent-book.ts";
import { multicall3RuntimeBytecode } from "../generated/multicall3.ts";
import { priceFeedAbi } from "../generated/price-feed.ts";
import { usdCoinAbi } from "../generated/usd-coin.ts";
import { vault4626Abi } from "../generated/vault4626.ts";
import { deploy, LOCAL_GENESIS_CODE, MULTICALL3_ADDRESS } from "./deploy.ts";
import { LOCAL_CONTRACTS, PROTOCOL_CONTRACTS } from "./deployment.ts";

const running: LocalChain[] = [];

async function start(options: Partial<Parameters<typeof startLocalChain>[0]> = {}): Promise<LocalChain> {
  const chain = await startLocalChain({ chainId: 31_337, ...options });
  running.push(chain);
  return chain;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((chain) => chain.stop()));
});

describe("deploy", () => {
  it("puts every contract on the chain, wired up, in the format of a deployment file", async () => {
    const chain = await start({ genesisTimestamp: 1_767_225_600n });
    await chain.mine(4);
    const deployment = await deploy({ request: chain.request, owner: chain.accounts.owner });

    expect(deployment).toMatchObject({ network: "local", chainId: 31_337, startBlock: 5 });
    expect(Object.keys(deployment.contracts).sort()).toEqual([...PROTOCOL_CONTRACTS].sort());
    expect(Object.keys(deployment.local).sort()).toEqual([...LOCAL_CONTRACTS].sort());
    const addresses = [...Object.values(deployment.contracts), ...Object.values(deployment.local)];
    expect(new Set(addresses).size).toBe(PROTOCOL_CONTRACTS.length + LOCAL_CONTRACTS.length);
    for (const address of addresses) {
      expect(address).toMatch(/^0x[0-9a-f]{40}$/);
      expect(await chain.request("eth_getCode", [address, "latest"])).not.toBe("0x");
    }

    const client = createPublicClient({ transport: http(chain.rpcUrl) });
    const { contracts, local } = deployment;
    const lookedUp = await client.readContract({
      address: contracts.IntentBook,
      abi: intentBookAbi,
      functionName: "attestationRegistry",
    });
    expect(lookedUp.toLowerCase()).toBe(contracts.AttestationRegistry);
    const asset = await client.readContract({
      address: local.Vault4626,
      abi: vault4626Abi,
      functionName: "asset",
    });
    expect(asset.toLowerCase()).toBe(local.UsdCoin);
    const feeds = [local.EthUsdFeed, local.UsdcUsdFeed].map((address) =>
      client.readContract({ address, abi: priceFeedAbi, functionName: "description" }),
    );
    expect(await Promise.all(feeds)).toEqual(["ETH / USD", "USDC / USD"]);
    expect(
      await client.readContract({ address: local.UsdCoin, abi: usdCoinAbi, functionName: "owner" }),
    ).toBe(chain.accounts.owner.address);
  });

  it("works over HTTP on a chain that mines on an interval, in few blocks", async () => {
    const chain = await start({ blockTimeMs: 50 });
    const deployment = await deploy({
      rpcUrl: chain.rpcUrl,
      owner: chain.accounts.owner,
      network: "staging",
    });
    expect(deployment.network).toBe("staging");
    expect(deployment.startBlock).toBeGreaterThan(0);
    expect(await chain.request("eth_getCode", [deployment.contracts.IntentBook, "latest"])).not.toBe("0x");
    expect(await chain.request("eth_getCode", [MULTICALL3_ADDRESS, "latest"])).toBe(
      multicall3RuntimeBytecode,
    );
  });

  it("gives the same addresses on every fresh chain, and others when the owner has acted before", async () => {
    const [first, second] = await Promise.all([start(), start({ code: LOCAL_GENESIS_CODE })]);
    const one = await deploy({ request: first.request, owner: first.accounts.owner });
    const two = await deploy({ request: second.request, owner: second.accounts.owner });
    expect(two).toEqual(one);
    const again = await deploy({ request: second.request, owner: second.accounts.owner });
    expect(again.contracts.AgentRegistry).not.toBe(one.contracts.AgentRegistry);
    expect(again.startBlock).toBeGreaterThan(one.startBlock);
  });

  it("says which contract failed", async () => {
    const chain = await start();
    const request = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
      const result = await chain.request(method, params);
      const receipt = result as { contractAddress?: string; status?: string } | null;
      if (method !== "eth_getTransactionReceipt" || receipt === null) return result;
      return Number(receipt.contractAddress?.length) > 0 ? { ...receipt, status: "0x0" } : result;
    };
    await expect(deploy({ request, owner: chain.accounts.owner })).rejects.toThrow(
      /^AgentRegistry could not be deployed: transaction 0x[0-9a-f]{64} failed$/,
    );
  });
});
