// What the portfolio knows of each chain beforehand: facts, token lists and stablecoins put together.
import type { ChainFacts } from "../chain/chains/chain-facts.ts";
import type { Hex } from "../kit/hex.ts";
import type { ChainBook } from "../portfolio/ports.ts";
import { mergeTokenLists, type TokenList } from "../portfolio/tokens/token-list.ts";

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
