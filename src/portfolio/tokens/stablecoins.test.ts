// The known stablecoins are well-formed, and the shipped token lists contain each under a dollar symbol.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { getStablecoins } from "./stablecoins.ts";

const CHAINS: readonly [string, number][] = [
  ["ethereum", 1],
  ["optimism", 10],
  ["polygon", 137],
  ["base", 8453],
  ["arbitrum", 42161],
];

describe("stablecoins", () => {
  it.each(CHAINS)("of %s are listed, lower-case, each under its dollar symbol", (slug, chainId) => {
    const list = readFileSync(`token-lists/${slug}.json`, "utf8").toLowerCase();
    const rows = list.match(/\{[^{}]*\}/g) ?? [];
    const addresses = [...getStablecoins(chainId)];
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    for (const address of addresses) {
      expect(address).toMatch(/^0x[0-9a-f]{40}$/);
      const row = rows.find((text) => text.includes(address));
      expect(row, address).toMatch(/usd|dai|gho|frax/);
    }
  });

  it("are empty for an unknown chain", () => {
    expect(getStablecoins(999).size).toBe(0);
  });
});
