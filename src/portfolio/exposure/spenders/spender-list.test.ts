// The list of spenders: checksums, no address twice on a chain, enough of them on every chain.
import { getAddress } from "viem";
import { describe, expect, it } from "vitest";
import { SPENDERS, spenderList } from "./spender-list.ts";

const CHAINS = [1, 10, 137, 8453, 42161];
const deployments = SPENDERS.flatMap(({ name, deployments: own }) =>
  own.map(([chainId, address]) => ({ name, chainId, address })),
);

describe("the list of spenders", () => {
  it("has at least sixty spenders, each with a name of its own", () => {
    expect(SPENDERS.filter(({ kind }) => kind !== "delegate").length).toBeGreaterThanOrEqual(60);
    expect(new Set(SPENDERS.map(({ name }) => name)).size).toBe(SPENDERS.length);
  });

  it("has addresses with their checksums, on chains that are served, each once on a chain", () => {
    for (const { address, chainId } of deployments) {
      expect(getAddress(address)).toBe(address);
      expect(CHAINS).toContain(chainId);
    }
    const keys = deployments.map(({ chainId, address }) => `${chainId} ${address}`);
    expect(new Set(keys).size).toBe(keys.length);
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

  it("knows nothing of another chain, and states its version", () => {
    expect(spenderList.onChain(99).byAddress.size).toBe(0);
    expect(spenderList.version).toMatch(/^[0-9]+ \(20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$/);
  });
});
