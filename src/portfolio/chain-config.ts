// What the portfolio knows of each chain beforehand: facts, token lists and stablecoins put together.
import type { ChainFacts } from "../chain/chains/chain-info.ts";
import type { Hex } from "../lib/hex.ts";
import { mergeTokenLists, type TokenList } from "./tokens/token-list.ts";
import type { ChainBook } from "./types.ts";

export type BookSources = {
  /** In order of trust. */
  readonly lists: readonly TokenList[];
  readonly stablecoinsOf: (chainId: number) => ReadonlySet<Hex>;
};

export function chainBook(facts: ChainFacts, { lists, stablecoinsOf }: BookSources): ChainBook {
  const { slug, chainId, name, native, blockTimeMs } = facts;
  return {
    slug,
    chainId,
    name,
    native,
    blockTimeMs,
    tokens: mergeTokenLists(lists, chainId),
    stablecoins: stablecoinsOf(chainId),
  };
}
