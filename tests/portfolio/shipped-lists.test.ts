// The token lists in the repository are those that their packages give.
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { buildShippedLists, LISTED_CHAINS } from "../../scripts/token-lists/shipped-lists.ts";
import { isPseudoNative } from "../../src/portfolio/tokens/pseudo-native.ts";
import { parseTokenList } from "../../src/portfolio/tokens/token-list.ts";

const FOLDER = new URL("../../token-lists/", import.meta.url);

it("are made again with the same bytes: otherwise run `npx tsx scripts/token-lists.ts`", async () => {
  const made = buildShippedLists();
  const there = (await readdir(FOLDER)).filter((name) => name.endsWith(".json"));
  expect([...made.keys()].sort()).toEqual(there.sort());
  for (const [name, text] of made) {
    expect((await readFile(new URL(name, FOLDER), "utf8")) === text, `${name} is as it is made`).toBe(true);
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
