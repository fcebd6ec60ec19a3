// How many of the tokens that are traded most worldwide, and of Sushi's list, the shipped lists contain.
import { readFileSync } from "node:fs";
import { LISTED_CHAINS } from "../token-lists/shipped-lists.ts";

/** Wallets hold more than the best known tokens, so that the tail is measured too. */
export const RANKS = [100, 300, 500] as const;

type Share = { readonly listed: number; readonly of: number };
type Coverage = {
  readonly slug: string;
  /** Distinct tokens of all shipped lists. */
  readonly listed: number;
  /** The coverage of the first tokens by worldwide volume, in the order of RANKS; fewer if the chain has fewer. */
  readonly mostTraded: readonly Share[];
  /** The coverage of a list that is not one of our sources; null if it has no token of the chain. */
  readonly sushi: Share | null;
};

export function measureCoverage(): readonly Coverage[] {
  type Measured = Readonly<Record<"chains" | "sushi", Readonly<Record<string, readonly string[]>>>>;
  const { chains, sushi } = readJson<Measured>("./most-traded.json");
  return LISTED_CHAINS.map(({ slug }) => {
    const paths = [`../../token-lists/${slug}.json`, `../../token-lists/repositories/${slug}.json`];
    const all = new Set(paths.flatMap(readAddresses));
    const share = (tokens: readonly string[]): Share => ({
      listed: tokens.filter((address) => all.has(address)).length,
      of: tokens.length,
    });
    const ranked = chains[slug] ?? [];
    return {
      slug,
      listed: all.size,
      mostTraded: RANKS.map((rank) => share(ranked.slice(0, rank))),
      sushi: sushi[slug]?.length ? share(sushi[slug]) : null,
    };
  });
}

function readAddresses(path: string): readonly string[] {
  const { tokens } = readJson<{ tokens: readonly { readonly address: string }[] }>(path);
  return tokens.map(({ address }) => address);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;
}
