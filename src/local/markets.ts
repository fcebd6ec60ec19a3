// Two small chains that stand for Base and Ethereum in a local run: real tokens, feeds and vaults, and no real money.
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { findChainBySlug } from "../chain/chains/chains.ts";
import type { ChainPriceFeeds } from "../chain/price-feeds/price-feed.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { createChainAccess } from "../portfolio/chain-access.ts";
import type { ChainConfig, ListedToken, PortfolioChain } from "../portfolio/types.ts";
import { loadDevPackages } from "./dev-packages.ts";

export type LocalMarket = {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly access: PortfolioChain;
  readonly feeds: ChainPriceFeeds;
};

export type LocalMarkets = { readonly markets: readonly LocalMarket[]; stop(): Promise<void> };

// What a snapshot asks for when nobody says which chains.
const SLUGS = ["base", "ethereum"];
// Nobody publishes here after the start; a local price holds for as long as anybody could run this.
const HEARTBEAT_SECONDS = 10 * 365 * 86_400;

export async function startLocalMarkets(log: Log, onCall: CallObserver | null): Promise<LocalMarkets> {
  const opened = await Promise.allSettled(SLUGS.map((slug) => openMarketOf(slug, log, onCall)));
  const markets = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const stop = async () => {
    for (const { rpc, chain } of markets) {
      rpc.close();
      await chain.stop();
    }
  };
  const failed = opened.find((each) => each.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { markets, stop };
}

async function openMarketOf(
  slug: string,
  log: Log,
  onCall: CallObserver | null,
): Promise<LocalMarket & { rpc: Rpc; chain: LocalChain }> {
  const facts = findChainBySlug(slug);
  if (!facts) throw new Fault("INTERNAL", `There is no chain ${slug}.`);
  const { chainId } = facts;
  const { startLocalChain, LOCAL_GENESIS_CODE, openMarket } = await loadDevPackages();
  const chain = await startLocalChain({ chainId, code: LOCAL_GENESIS_CODE });
  try {
    const { local } = await openMarket(chain, slug);
    const at = (name: keyof typeof local) => local[name].toLowerCase() as Hex;
    const tokens = [
      token(at("UsdCoin"), "USDC", "USD Coin", 6),
      token(at("WrappedEther"), "WETH", "Wrapped Ether", 18),
      token(at("Vault4626"), "vUSDC", "USD Coin Vault", 6),
    ];
    const book: ChainConfig = {
      ...facts,
      name: `${facts.name} (local)`,
      blockTimeMs: 1_000,
      tokens: new Map(tokens.map((each) => [each.contract, each])),
      stablecoins: new Set([at("UsdCoin")]),
    };
    const feedOf = (feed: Hex) => ({ feed, heartbeatSeconds: HEARTBEAT_SECONDS });
    const ether = feedOf(at("EthUsdFeed"));
    const feeds = {
      native: ether,
      sequencer: null,
      tokens: { [at("WrappedEther")]: ether, [at("UsdCoin")]: feedOf(at("UsdcUsdFeed")) },
    };
    const rpc = createRpc({ urls: [new Secret(chain.rpcUrl)], chainId, log, onCall });
    const { rpcUrl, wsUrl } = chain;
    return { slug, chainId, rpcUrl, wsUrl, feeds, access: createChainAccess(rpc, book), rpc, chain };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

function token(contract: Hex, symbol: string, name: string, decimals: number): ListedToken {
  return { contract, symbol, name, decimals, logo: null };
}
