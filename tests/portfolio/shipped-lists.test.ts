// The shipped token lists: up to date with their packages, and with every asset that the service knows by address.
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { measureCoverage } from "../../scripts/token-coverage/coverage.ts";
import { REPOSITORY_SOURCES } from "../../scripts/token-lists/repository-sources.ts";
import { buildShippedLists, LISTED_CHAINS } from "../../scripts/token-lists/shipped-lists.ts";
import { CHAINLINK_FEEDS } from "../../src/chain/price-feeds/price-feeds.ts";
import type { Hex } from "../../src/lib/hex.ts";
import {
  AAVE_V2_MARKETS,
  AAVE_V3_MARKETS,
  SPARK_MARKETS,
} from "../../src/portfolio/positions/aave-v3/markets.ts";
import { loadTokenLists } from "../../src/portfolio/tokens/load-token-lists.ts";
import { getStablecoins } from "../../src/portfolio/tokens/stablecoins.ts";
import { isPseudoNative, mergeTokenLists, parseTokenList } from "../../src/portfolio/tokens/token-list.ts";

const FOLDER = new URL("../../token-lists/", import.meta.url);

it("shipped lists match the generated ones: otherwise run `npx tsx scripts/token-lists.ts`", async () => {
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

const required = JSON.parse(await readFile(new URL("required-tokens.json", import.meta.url), "utf8")) as {
  readonly sources: readonly unknown[];
  readonly tokens: Readonly<Record<string, readonly Hex[]>>;
};

it("what Compound, Morpho and the feeds require comes from the sources that the script reads", () => {
  const declared = REPOSITORY_SOURCES.filter((source) => source.required);
  expect(required.sources).toEqual(
    declared.map(({ repository, commit, date }) => ({ repository, commit, date })),
  );
  const names = declared.map(({ repository }) => repository).join();
  expect(names).toContain("compound-finance/comet");
  expect(names).toContain("morpho-org/morpho-blue-api-metadata");
});

it.each(LISTED_CHAINS)(
  "$slug lists every asset of feeds, Aave, Compound, Morpho and stablecoins",
  (chain) => {
    const { chainId } = chain;
    const universe = mergeTokenLists(lists, chainId);
    const reserves = [AAVE_V3_MARKETS, AAVE_V2_MARKETS, SPARK_MARKETS]
      .flatMap((markets) => markets.get(chainId) ?? [])
      .flatMap((market) => market.reserves.map(({ underlying }) => underlying));
    const known = {
      feeds: Object.keys(CHAINLINK_FEEDS.get(chainId)?.tokens ?? {}) as Hex[],
      reserves,
      stablecoins: [...getStablecoins(chainId)],
      protocols: (required.tokens[chainId] ?? []).filter((contract) => !isPseudoNative(chainId, contract)),
    };
    for (const [kind, contracts] of Object.entries(known)) {
      expect(contracts.length, kind).toBeGreaterThan(3);
      expect(
        contracts.filter((contract) => !universe.has(contract)),
        kind,
      ).toEqual([]);
    }
  },
);

it.each(measureCoverage())("$slug lists most of what is traded worldwide and on Sushi", (coverage) => {
  const { mostTraded, sushi } = coverage;
  expect(mostTraded[0]?.of).toBe(100);
  expect(sushi === null).toBe(coverage.slug === "base");
  const shares = [...mostTraded, sushi].flatMap((share) => share ?? []);
  const percents = shares.map(({ listed, of }) => (100 * listed) / of);
  for (const [index, least] of [80, 75, 65, 56].slice(0, percents.length).entries()) {
    expect(percents[index]).toBeGreaterThanOrEqual(least);
  }
});

it("measures coverage by lists that are not among the sources", async () => {
  const file = new URL("../../scripts/token-coverage/most-traded.json", import.meta.url);
  const { sources } = JSON.parse(await readFile(file, "utf8")) as {
    readonly sources: readonly { readonly repository: string }[];
  };
  const taken = new Set(REPOSITORY_SOURCES.map(({ repository }) => repository));
  expect(sources.filter(({ repository }) => taken.has(repository))).toEqual([]);
});
