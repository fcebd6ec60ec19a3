// The shipped token lists: up to date with their packages, and with every asset that the service knows by address.
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { measureCoverage } from "../../scripts/token-coverage/coverage.ts";
import { REPOSITORY_SOURCES } from "../../scripts/token-lists/repository-sources.ts";
import { buildShippedLists, LISTED_CHAINS } from "../../scripts/token-lists/shipped-lists.ts";
import { CHAINLINK_FEEDS } from "../../src/chain/price-feeds/price-feeds.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { AAVE_V3_MARKETS } from "../../src/portfolio/positions/aave-v3/markets.ts";
import { loadTokenLists } from "../../src/portfolio/tokens/load-token-lists.ts";
import { getStablecoins } from "../../src/portfolio/tokens/stablecoins.ts";
import { isPseudoNative, mergeTokenLists, parseTokenList } from "../../src/portfolio/tokens/token-list.ts";

const FOLDER = new URL("../../token-lists/", import.meta.url);

it("match the generated lists byte for byte: otherwise run `npx tsx scripts/token-lists.ts`", async () => {
  const generated = buildShippedLists();
  const stored = (await readdir(FOLDER)).filter((name) => name.endsWith(".json"));
  expect([...generated.keys()].sort()).toEqual(stored.sort());
  for (const [name, text] of generated) {
    expect((await readFile(new URL(name, FOLDER), "utf8")) === text, `${name} is up to date`).toBe(true);
  }
});

const extracted = async (slug: string) =>
  JSON.parse(await readFile(new URL(`repositories/${slug}.json`, FOLDER), "utf8")) as {
    readonly sources: unknown;
    readonly tokens: readonly { readonly chainId: number; readonly address: Hex }[];
  };

it.each(LISTED_CHAINS)("$slug is listed under its own id, sorted, each token once", async (chain) => {
  const { slug, chainId } = chain;
  for (const list of [JSON.parse(buildShippedLists().get(`${slug}.json`) ?? ""), await extracted(slug)]) {
    const addresses = checkedAddresses(list, chainId);
    expect(addresses.filter((address) => isPseudoNative(chainId, address))).toEqual([]);
    expect(parseTokenList(list, slug, new Set([chainId])).get(chainId)?.size).toBe(addresses.length);
  }
});

function checkedAddresses(list: Awaited<ReturnType<typeof extracted>>, chainId: number) {
  const addresses = list.tokens.map(({ address }) => address);
  expect(addresses).toEqual([...new Set(addresses)].sort());
  expect(list.tokens.every((token) => token.chainId === chainId)).toBe(true);
  return addresses;
}

it.each(LISTED_CHAINS)("the extract of $slug names the sources that the script reads", async ({ slug }) => {
  const declared = REPOSITORY_SOURCES.map(({ read: _, ...source }) => source);
  expect((await extracted(slug)).sources).toEqual(declared);
});

const lists = await loadTokenLists({ sources: [], chains: LISTED_CHAINS });

// The base assets that are no stablecoins, as the deployments of Compound v3 name them.
const COMPOUND_BASE_ASSETS: ReadonlyMap<number, readonly Hex[]> = new Map([
  [
    1,
    [
      "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599",
      "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
      "0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0",
    ],
  ],
  [10, ["0x4200000000000000000000000000000000000006"]],
  [8453, ["0x4200000000000000000000000000000000000006", "0x940181a94a35a4569e4529a3cdfb74e38fd98631"]],
  [42161, ["0x82af49447d8a07e3bd95bd0d56f35241523fbab1"]],
]);

it.each(LISTED_CHAINS)("$slug lists every feed, reserve, stablecoin and base asset", ({ chainId }) => {
  const universe = mergeTokenLists(lists, chainId);
  const known = [
    ...Object.keys(CHAINLINK_FEEDS.get(chainId)?.tokens ?? {}),
    ...(AAVE_V3_MARKETS.get(chainId) ?? []).flatMap(({ reserves }) =>
      reserves.map(({ underlying }) => underlying),
    ),
    ...getStablecoins(chainId),
    ...(COMPOUND_BASE_ASSETS.get(chainId) ?? []),
  ] as Hex[];
  expect(known.length).toBeGreaterThan(30);
  expect(known.filter((contract) => !universe.has(contract))).toEqual([]);
});

it.each(measureCoverage())("$slug lists most of the hundred most traded tokens", (coverage) => {
  expect(coverage.mostTraded).toBe(100);
  expect(coverage.inAll).toBeGreaterThanOrEqual(80);
});
