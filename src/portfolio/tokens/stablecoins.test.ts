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
  it.each(CHAINS)(
    "stablecoins of %s are listed, lower-case, each under its dollar symbol",
    (slug, chainId) => {
      const files = [`token-lists/${slug}.json`, `token-lists/repositories/${slug}.json`];
      const list = files.map((file) => readFileSync(file, "utf8").toLowerCase()).join("");
      const rows = list.match(/\{[^{}]*\}/g) ?? [];
      const addresses = [...getStablecoins(chainId)];
      expect(addresses.length).toBeGreaterThanOrEqual(10);
      for (const address of addresses) {
        expect(address).toMatch(/^0x[0-9a-f]{40}$/);
        const row = rows.find((text) => text.includes(address));
        expect(row, address).toMatch(/usd|dai|gho|frax|dola|bold|mimatic/);
      }
    },
  );

  it.each([
    [1, "USD1", "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d"],
    [1, "FDUSD", "0xc5f0f7b66764f6ec8c8dff7ba683102295e16409"],
    [10, "USD₮0", "0x01bff41798a0bcf287b996046ca68b395dbc1071"],
    [137, "FRAX", "0x45c32fa6df82ead1e2ef74d17b76547eddfaff89"],
    [8453, "USDT", "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2"],
    [8453, "USDS", "0x820c137fa70c8691f0e44dc420a5e53c168921dc"],
    [42161, "PYUSD", "0x46850ad61c2b7d64d08c9c754f45254596696984"],
  ] as const)("stablecoins of chain %i contain %s", (chainId, _, contract) => {
    expect(getStablecoins(chainId).has(contract)).toBe(true);
  });

  it("lists no stablecoins for an unknown chain", () => {
    expect(getStablecoins(999).size).toBe(0);
  });
});
