// The tables of the verifier against the data that the services ship.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findKnownChainId } from "./known-chains.ts";
import { listKnownTokens } from "./known-layouts.ts";

type Chain = { readonly slug: string; readonly chainId: number; readonly wrappedNative?: string };
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));

describe("the tables of the verifier", () => {
  const chains = read("chain-data/chains.json") as readonly Chain[];

  it("the table of chains has the id of every chain that is served", () => {
    for (const { slug, chainId } of chains) expect(findKnownChainId(slug)).toBe(`eip155:${chainId}`);
    expect(findKnownChainId("constructor")).toBeNull();
  });

  it("the table of layouts has only tokens that the shipped lists have under these symbols", () => {
    for (const key of listKnownTokens()) {
      const [id, address] = key.split(" ");
      const slug = chains.find(({ chainId }) => `eip155:${chainId}` === id)?.slug;
      const { tokens } = read(`token-lists/${slug}.json`) as {
        tokens: readonly { address: string; symbol: string }[];
      };
      const token = tokens.find((each) => each.address.toLowerCase() === address);
      expect(["USDC", "WETH", "DAI", "USDT"]).toContain(token?.symbol);
    }
  });
});
