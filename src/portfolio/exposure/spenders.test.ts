// The list of spenders: checksums, sources, no address twice on a chain, enough of them on every chain.

import { getAddress } from "viem";
import { describe, expect, it } from "vitest";
import { exampleExposure } from "../../schema/portfolio/examples.ts";
import { COINBASE_IMPLEMENTATIONS } from "../account/kind.ts";
import { SPENDERS, spenderList } from "./spenders.ts";

const CHAINS = [1, 10, 137, 8453, 42161];
const deployments = SPENDERS.flatMap(({ name, deployments: own }) =>
  own.map(([chainId, address]) => ({ name, chainId, address })),
);

describe("the list of spenders", () => {
  it("the list has at least sixty spenders", () => {
    const names = SPENDERS.filter(({ kind }) => kind !== "delegate").map(({ name }) => name);
    expect(new Set(names).size).toBeGreaterThanOrEqual(60);
  });

  it("says the same about a spender on every chain that has it", () => {
    for (const spender of SPENDERS) {
      const first = SPENDERS.find(({ name }) => name === spender.name);
      expect(spender).toEqual({ ...first, deployments: spender.deployments });
    }
  });

  it("runs as Coinbase's delegate the implementations that are known of Coinbase's accounts", () => {
    const coinbase = SPENDERS.filter(({ name }) => name === "Coinbase EIP-7702 proxy");
    expect(coinbase.map(({ implementations }) => implementations)).toEqual(
      CHAINS.map(() => COINBASE_IMPLEMENTATIONS),
    );
  });

  it("lists addresses with their checksums, on served chains, each once on a chain", () => {
    for (const { address, chainId } of deployments) {
      expect(getAddress(address)).toBe(address);
      expect(CHAINS).toContain(chainId);
    }
    const keys = deployments.map(({ chainId, address }) => `${chainId} ${address}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("says for every spender where its addresses were looked up", () => {
    const entry = /^[\w.-]+\/[\w.-]+: [\w./-]+$/;
    const unnamed = SPENDERS.filter(({ source }) => !source.split("; ").every((one) => entry.test(one)));
    expect(unnamed.map(({ name }) => name)).toEqual([]);
  });

  it.each([
    ["0x4dae2f939acf50408e13d58534ff8c2776d45265", 10],
    ["0x4dae2f939acf50408e13d58534ff8c2776d45265", 42161],
    ["0x00000000006c3852cbef3e08e8df289169ede581", 8453],
    ["0x000000009b1d0af20d8c6d0a44e162d11f9b8f00", 137],
    ["0x2052f8a2ff46283b30084e5d84c89a2fdbe7f74b", 10],
  ] as const)("does not name %s on chain %i, where its project publishes none", (address, chainId) => {
    expect(spenderList.onChain(chainId).byAddress.has(address)).toBe(false);
  });

  it("knows Permit2's allowances only for those that take tokens through that Permit2", () => {
    // Velodrome's router was built with a Permit2 of its own.
    const velodrome = SPENDERS.find(({ name }) => name === "Velodrome Universal Router");
    expect(velodrome?.takesPermit2).toBeUndefined();
  });

  it.each(CHAINS)(
    "knows spenders of tokens, of Permit2 and of collections on chain %i, in lower case",
    (chainId) => {
      const { byAddress, ofTokens, ofPermit2, ofCollections } = spenderList.onChain(chainId);
      expect(ofTokens.length).toBeGreaterThanOrEqual(25);
      expect(ofPermit2.length).toBeGreaterThanOrEqual(1);
      expect(ofCollections.length).toBeGreaterThanOrEqual(4);
      expect([...byAddress.keys()].every((address) => address === address.toLowerCase())).toBe(true);
      expect(byAddress.get("0x000000000022d473030f116ddee9f6b43ac78ba3")?.name).toBe("Permit2");
    },
  );

  it.each(CHAINS)(
    "knows Coinbase's manager of permissions and Safe's newest handler on chain %i",
    (chainId) => {
      const { byAddress, ofTokens } = spenderList.onChain(chainId);
      const manager = "0xf85210b21cc50302f477ba56686d2019dc9b67ad";
      expect(byAddress.get(manager)?.kind).toBe("permission-manager");
      // It is an owner, and is never approved.
      expect(ofTokens).not.toContain(manager);
      expect(byAddress.get("0x3efcbb83a4a7afcb4f68d501e2c2203a38be77f4")?.kind).toBe("fallback-handler");
    },
  );

  it("knows nothing of another chain, and states its version", () => {
    expect(spenderList.onChain(99).byAddress.size).toBe(0);
    expect(spenderList.version).toMatch(/^[0-9]+ \(20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$/);
    expect(JSON.stringify(exampleExposure)).toContain(spenderList.version);
  });
});
