// The chains the portfolio service reads: those that nodes are configured for, with what is known of each beforehand.
import { chainBySlug } from "../chain/chains/chains.ts";
import type { Rpc } from "../chain/rpc/call.ts";
import { createRpc } from "../chain/rpc/rpc.ts";
import type { Config } from "../kit/config.ts";
import { Fault } from "../kit/fault.ts";
import type { Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { ChainPort } from "../portfolio/ports.ts";
import { ALCHEMY_NETWORKS } from "../portfolio/providers/alchemy/networks.ts";
import { stablecoinsOf } from "../portfolio/value/stablecoins.ts";
import { chainBook } from "./portfolio-books.ts";
import { portfolioChain } from "./portfolio-chain.ts";
import type { portfolioSettings } from "./settings.ts";
import { readTokenLists } from "./token-lists.ts";

type PortfolioConfig = Config<typeof portfolioSettings>;

export type PortfolioNodes = {
  readonly chains: readonly ChainPort[];
  /** Names of chains of which no node answers at the moment. */
  silent(): readonly string[];
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

export async function openPortfolioNodes(
  config: PortfolioConfig,
  log: Log,
  signal: AbortSignal,
): Promise<PortfolioNodes> {
  const served = NODES.flatMap(([slug, urlsOf]) => {
    const facts = chainBySlug(slug);
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
  const lists = await readTokenLists({
    sources: config.portfolioTokenLists,
    chains: served.map(({ facts }) => facts),
    signal,
  });
  const opened = served.map(({ facts, urls }) => {
    const rpc = createRpc({ urls, chainId: facts.chainId, log });
    return { rpc, port: portfolioChain(rpc, chainBook(facts, { lists, stablecoinsOf })) };
  });
  return {
    chains: opened.map(({ port }) => port),
    silent: () => opened.filter(({ rpc }) => isSilent(rpc)).map(({ port }) => port.chain.name),
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
  return rpc.providers().every(({ state }) => state === "resting");
}
