// How many of the most traded tokens the shipped lists contain.
import { readFileSync } from "node:fs";
import { LISTED_CHAINS } from "../token-lists/shipped-lists.ts";

type Coverage = {
  readonly slug: string;
  /** Distinct tokens of all shipped lists. */
  readonly listed: number;
  readonly mostTraded: number;
  /** Of the most traded: in the lists made from packages alone, and in all shipped lists. */
  readonly inPackages: number;
  readonly inAll: number;
};

export function measureCoverage(): readonly Coverage[] {
  const { chains } = readJson<{ chains: Record<string, readonly string[]> }>("./most-traded.json");
  return LISTED_CHAINS.map(({ slug }) => {
    const packages = readAddresses(`../../token-lists/${slug}.json`);
    const all = new Set([...packages, ...readAddresses(`../../token-lists/repositories/${slug}.json`)]);
    const mostTraded = chains[slug] ?? [];
    return {
      slug,
      listed: all.size,
      mostTraded: mostTraded.length,
      inPackages: mostTraded.filter((address) => packages.has(address)).length,
      inAll: mostTraded.filter((address) => all.has(address)).length,
    };
  });
}

function readAddresses(path: string): ReadonlySet<string> {
  const { tokens } = readJson<{ tokens: readonly { readonly address: string }[] }>(path);
  return new Set(tokens.map(({ address }) => address));
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;
}
