// The facts of all chains, held to the same rules.
import * as publishedChains from "viem/chains";
import { describe, expect, it } from "vitest";
import { CHAINS, findChainById, findChainBySlug } from "./chains.ts";

describe("the chains", () => {
  it("finds each chain by its own slug and id", () => {
    expect(new Set(CHAINS.map((chain) => chain.slug)).size).toBe(CHAINS.length);
    expect(new Set(CHAINS.map((chain) => chain.chainId)).size).toBe(CHAINS.length);
    expect(findChainBySlug("base")?.chainId).toBe(8453);
    expect(findChainById(84532)?.slug).toBe("base-sepolia");
    expect(findChainBySlug("nowhere")).toBeNull();
    expect(findChainById(0)).toBeNull();
  });

  it.each(CHAINS)("$slug is described plausibly", (chain) => {
    expect(chain.slug).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(chain.native.decimals).toBe(18);
    expect(chain.finalityDepth).toBeGreaterThan(chain.finalityDepthMin);
    if (chain.mainnet) expect(chain.finalityDepthMin).toBeGreaterThan(0);
    expect(chain.blockTimeMs).toBeGreaterThan(0);
    const page = chain.explorerTxUrl;
    if (page !== null) expect(page).toMatch(/^https:\/\/[^{}]+\/tx\/\{hash\}$/);
    if (chain.mainnet) expect(page).not.toBeNull();
  });

  it.each(CHAINS.filter(({ publicRpcUrl }) => publicRpcUrl !== null))(
    "$slug has the public node that its own project publishes",
    ({ chainId, publicRpcUrl }) => {
      const published = Object.values(publishedChains).find(({ id }) => id === chainId);
      expect(published?.rpcUrls.default.http).toContain(publicRpcUrl);
    },
  );
});
