// Opens the chains of the portfolio service: those with a configured node, with their token lists and stablecoins.
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import type { portfolioSettings } from "../config/portfolio-settings.ts";
import type { Config } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { createChainAccess } from "./chain-access.ts";
import { loadTokenLists } from "./tokens/load-token-lists.ts";
import { getStablecoins } from "./tokens/stablecoins.ts";
import { mergeTokenLists, type TokenList } from "./tokens/token-list.ts";
import type { ChainConfig, PortfolioChain } from "./types.ts";

type ChainConfigSources = {
  /** Most trusted first. */
  readonly lists: readonly TokenList[];
  readonly stablecoinsOf: (chainId: number) => ReadonlySet<Hex>;
};

export function createChainConfig(
  info: ChainInfo,
  { lists, stablecoinsOf }: ChainConfigSources,
): ChainConfig {
  const { slug, chainId, name, native, blockTimeMs, explorerTxUrl } = info;
  return {
    slug,
    chainId,
    name,
    native,
    blockTimeMs,
    explorerTxUrl,
    tokens: mergeTokenLists(lists, chainId),
    stablecoins: stablecoinsOf(chainId),
  };
}

type PortfolioConfig = Config<typeof portfolioSettings>;

export type PortfolioChains = {
  readonly chains: readonly PortfolioChain[];
  /** Names of the chains without a responding node at the moment. */
  unreachableChains(): readonly string[];
  close(): void;
};

/** A client waits: a chain without a node fails after a second attempt or two, and not after all the time it has. */
const NODE_LIMITS = { unreachableMsMax: 1_000 };

export async function openPortfolioChains(
  config: PortfolioConfig,
  nodes: ReadonlyMap<number, readonly Secret<string>[]>,
  { log, onCall, signal }: { readonly log: Log; readonly onCall: CallObserver; readonly signal: AbortSignal },
): Promise<PortfolioChains> {
  const served = PORTFOLIO_CHAINS.flatMap((info) => {
    const configured = nodes.get(info.chainId) ?? [];
    const urls = configured.length > 0 ? configured : alchemyUrls(config, info);
    return urls.length > 0 ? [{ info, urls }] : [];
  });
  if (served.length === 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "The portfolio service needs a node of at least one chain: set RPC_URL_8453 for Base, RPC_URL_1 for Ethereum.",
    );
  }
  const lists = await loadTokenLists({
    sources: config.portfolioTokenLists,
    chains: served.map(({ info }) => info),
    signal,
  });
  const clients = served.map(({ info, urls }) => {
    const rpc = createRpc({ urls, chainId: info.chainId, log, onCall, limits: NODE_LIMITS });
    const chain = createChainConfig(info, { lists, stablecoinsOf: getStablecoins });
    return { rpc, access: createChainAccess(rpc, chain) };
  });
  return {
    chains: clients.map(({ access }) => access),
    unreachableChains: () =>
      clients.filter(({ rpc }) => isUnreachable(rpc)).map(({ access }) => access.chain.name),
    close: () => {
      for (const { rpc } of clients) rpc.close();
    },
  };
}

/** An Alchemy key gives access to a node of every chain that Alchemy serves. */
function alchemyUrls(
  { portfolioProvider, alchemyApiKey }: PortfolioConfig,
  { vendorNames }: ChainInfo,
): Secret<string>[] {
  const network = vendorNames?.alchemy;
  if (portfolioProvider !== "alchemy" || alchemyApiKey === null || !network) return [];
  return [new Secret(`https://${network}.g.alchemy.com/v2/${alchemyApiKey.reveal()}`)];
}

function isUnreachable(rpc: Rpc): boolean {
  return rpc.providers().every(({ state }) => state === "cooling-down");
}
