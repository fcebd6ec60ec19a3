// The token lists in the repository match what their packages generate.
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { buildShippedLists, LISTED_CHAINS } from "../../scripts/token-lists/shipped-lists.ts";
import { isPseudoNative, parseTokenList } from "../../src/portfolio/tokens/token-list.ts";

const FOLDER = new URL("../../token-lists/", import.meta.url);

it("match the generated lists byte for byte: otherwise run `npx tsx scripts/token-lists.ts`", async () => {
  const generated = buildShippedLists();
  const stored = (await readdir(FOLDER)).filter((name) => name.endsWith(".json"));
  expect([...generated.keys()].sort()).toEqual(stored.sort());
  for (const [name, text] of generated) {
    expect((await readFile(new URL(name, FOLDER), "utf8")) === text, `${name} is up to date`).toBe(true);
  }
});

it.each(LISTED_CHAINS)("$slug is listed under its own id, sorted, each token once", ({ slug, chainId }) => {
  const list = JSON.parse(buildShippedLists().get(`${slug}.json`) ?? "") as {
    tokens: { chainId: number; address: `0x${string}` }[];
  };
  const addresses = list.tokens.map(({ address }) => address);
  expect(addresses).toEqual([...new Set(addresses)].sort());
  expect(list.tokens.every((token) => token.chainId === chainId)).toBe(true);
  expect(addresses.filter((address) => isPseudoNative(chainId, address))).toEqual([]);
  expect(parseTokenList(list, slug, new Set([chainId])).get(chainId)?.size).toBe(addresses.length);
});
