// What the portfolio knows of each chain beforehand: facts, token lists and stablecoins put together.
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import type { Hex } from "../lib/hex.ts";
import { mergeTokenLists, type TokenList } from "./tokens/token-list.ts";
import type { ChainConfig } from "./types.ts";

export type ChainConfigSources = {
  /** In order of trust. */
  readonly lists: readonly TokenList[];
  readonly stablecoinsOf: (chainId: number) => ReadonlySet<Hex>;
};

export function createChainConfig(
  facts: ChainInfo,
  { lists, stablecoinsOf }: ChainConfigSources,
): ChainConfig {
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
