// The chains the portfolio service reads: those that nodes are configured for, with what is known of each beforehand.
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import { findChainBySlug } from "../chain/chains/chains.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import type { Config } from "../config/read-config.ts";
import type { portfolioSettings } from "../config/settings.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { createChainAccess } from "./chain-access.ts";
import { ALCHEMY_NETWORKS } from "./providers/alchemy/networks.ts";
import { loadTokenLists } from "./tokens/load-token-lists.ts";
import { getStablecoins } from "./tokens/stablecoins.ts";
import { mergeTokenLists, type TokenList } from "./tokens/token-list.ts";
import type { ChainConfig, PortfolioChain } from "./types.ts";

// What the portfolio knows of each chain beforehand: facts, token lists and stablecoins put together.

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

type PortfolioConfig = Config<typeof portfolioSettings>;

export type PortfolioChains = {
  readonly chains: readonly PortfolioChain[];
  /** Names of chains of which no node answers at the moment. */
  unreachableChains(): readonly string[];
  close(): void;
};

/** In the order in which they are listed. */
const NODES = [
  ["base", "rpcUrlsBase"],
  ["ethereum", "rpcUrlsEthereum"],
  ["arbitrum", "rpcUrlsArbitrum"],
  ["optimism", "rpcUrlsOptimism"],
  ["polygon", "rpcUrlsPolygon"],
] as const satisfies readonly (readonly [string, keyof PortfolioConfig])[];

export async function openPortfolioChains(
  config: PortfolioConfig,
  { log, onCall, signal }: { readonly log: Log; readonly onCall: CallObserver; readonly signal: AbortSignal },
): Promise<PortfolioChains> {
  const served = NODES.flatMap(([slug, urlsOf]) => {
    const facts = findChainBySlug(slug);
    if (!facts) throw new Fault("INTERNAL", `There is no chain ${slug}.`);
    const urls = config[urlsOf].length > 0 ? config[urlsOf] : alchemyUrls(config, facts.chainId);
    return urls.length > 0 ? [{ facts, urls }] : [];
  });
  if (served.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "The portfolio service needs a node of at least one chain: set RPC_URL_8453 for Base, RPC_URL_1 for Ethereum.",
    );
  }
  const lists = await loadTokenLists({
    sources: config.portfolioTokenLists,
    chains: served.map(({ facts }) => facts),
    signal,
  });
  const opened = served.map(({ facts, urls }) => {
    const rpc = createRpc({ urls, chainId: facts.chainId, log, onCall });
    return {
      rpc,
      port: createChainAccess(rpc, createChainConfig(facts, { lists, stablecoinsOf: getStablecoins })),
    };
  });
  return {
    chains: opened.map(({ port }) => port),
    unreachableChains: () => opened.filter(({ rpc }) => isSilent(rpc)).map(({ port }) => port.chain.name),
    close: () => {
      for (const { rpc } of opened) rpc.close();
    },
  };
}

/** Whoever has a key of Alchemy's has a node of every chain it serves. */
function alchemyUrls(
  { portfolioProvider, alchemyApiKey }: PortfolioConfig,
  chainId: number,
): Secret<string>[] {
  const network = ALCHEMY_NETWORKS.get(chainId);
  if (portfolioProvider !== "alchemy" || alchemyApiKey === null || !network) return [];
  return [new Secret(`https://${network.name}.g.alchemy.com/v2/${alchemyApiKey.reveal()}`)];
}

function isSilent(rpc: Rpc): boolean {
  return rpc.providers().every(({ state }) => state === "cooling-down");
}
