// Two local chains that stand in for Base and Ethereum: tokens, feeds, a vault, a loan and Permit2, without real money.
import type { LocalAccountName } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { findChainBySlug } from "../chain/chains/chains.ts";
import type { ChainPriceFeeds } from "../chain/price-feeds/price-feeds.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import { createLocalCallers } from "../http/security/request-guard.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import { createChainAccess } from "../portfolio/chain-access.ts";
import { PERMIT2 } from "../portfolio/exposure/revocations.ts";
import { createErc4626Reader } from "../portfolio/positions/erc4626/reader.ts";
import type { MorphoBlueMarkets } from "../portfolio/positions/morpho-blue/contracts.ts";
import { createMorphoBlueReader } from "../portfolio/positions/morpho-blue/reader.ts";
import type { ChainConfig, ListedToken, PortfolioChain, PositionReader } from "../portfolio/types.ts";
import { DAY_SECONDS, type DevPackages, HISTORY_DAYS, loadDevPackages, nowSeconds } from "./simulation.ts";

export type LocalMarket = {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly access: PortfolioChain;
  readonly feeds: ChainPriceFeeds;
  /** The only ERC-4626 vault there; its code is known. */
  readonly vault: Hex;
  /** The only lending market: ours, with the views of Morpho Blue. */
  readonly lending: MorphoBlueMarkets;
  /** The payer has acted since, so that a difference from here has something to show. */
  readonly fundedBlock: number;
};

type LocalMarkets = {
  readonly markets: readonly LocalMarket[];
  /** Mines on until they stop, so that the newest final block is never old. */
  keepMining(): Promise<void>;
  stop(): Promise<void>;
};

// The default chains of a snapshot.
const SLUGS = ["base", "ethereum"];
// A final block is this far below the head: with the interval below a time is final within a quarter of a minute.
const FINALITY_DEPTH = 2;
const BLOCK_MS = 5_000;
// As often as feeds of real chains publish a price that does not change.
const PUBLISH_MS = 20 * 60_000;
// The prices of a machine that slept, and those of last week, are not stale.
const HEARTBEAT_SECONDS = 10 * 365 * 86_400;
// In wei. The chain gives its accounts a million coins each; these wallets are shown to people, who expect a wallet.
const DEMO_BALANCES: Readonly<Record<string, Partial<Record<LocalAccountName, bigint>>>> = {
  base: {
    payer: 318_420_000_000_000_000n,
    agent: 41_700_000_000_000_000n,
    solver: 12_050_000_000_000_000_000n,
    merchant: 96_300_000_000_000_000n,
  },
  ethereum: {
    payer: 1_274_650_000_000_000_000n,
    agent: 205_000_000_000_000_000n,
    solver: 40_800_000_000_000_000_000n,
    merchant: 512_000_000_000_000_000n,
  },
};

export async function startLocalMarkets(log: Log, onCall: CallObserver | null): Promise<LocalMarkets> {
  const opened = await Promise.allSettled(SLUGS.map((slug) => startMarket(slug, log, onCall)));
  const markets = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  let publishing: NodeJS.Timeout | undefined;
  const keepMining = async () => {
    for (const { chain } of markets) await chain.request("evm_setIntervalMining", [BLOCK_MS]);
    publishing = setInterval(() => {
      Promise.all(markets.map(({ publishPrices }) => publishPrices())).catch((err: unknown) =>
        log.info(
          { component: "local", event: "prices_not_published", err },
          "Local prices stay those of before",
        ),
      );
    }, PUBLISH_MS);
  };
  const stop = async () => {
    clearInterval(publishing);
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
  return { markets, keepMining, stop };
}

async function startMarket(
  slug: string,
  log: Log,
  onCall: CallObserver | null,
): Promise<LocalMarket & { rpc: Rpc; chain: LocalChain; publishPrices(): Promise<void> }> {
  const chainInfo = findChainBySlug(slug);
  if (!chainInfo) throw new Fault("INTERNAL", `Unknown chain ${slug}.`);
  const { chainId } = chainInfo;
  const packages = await loadDevPackages();
  const { LOCAL_GENESIS_CODE, permit2RuntimeBytecode } = packages;
  const chain = await packages.startLocalChain({
    chainId,
    genesisTimestamp: BigInt(nowSeconds() - HISTORY_DAYS * DAY_SECONDS),
    finalityDepth: FINALITY_DEPTH,
    // Nothing undoes its blocks, so that none needs a snapshot.
    reorgDepthMax: 0,
    code: { ...LOCAL_GENESIS_CODE, [PERMIT2]: permit2RuntimeBytecode },
    findForeignCaller: createLocalCallers({ publicUrl: null }),
  });
  try {
    const { local, lending, id, fundedBlock } = await prepareMarket(chain, slug, packages);
    const addressOf = (name: keyof typeof local) => local[name].toLowerCase() as Hex;
    const tokens = [
      token(addressOf("UsdCoin"), "USDC", "USD Coin", 6),
      token(addressOf("WrappedEther"), "WETH", "Wrapped Ether", 18),
      token(addressOf("Vault4626"), "vUSDC", "USD Coin Vault", 6),
    ];
    const config: ChainConfig = {
      ...chainInfo,
      name: `${chainInfo.name} (local)`,
      blockTimeMs: 1_000,
      // The explorer of the real chain does not know these transactions.
      explorerTxUrl: null,
      tokens: new Map(tokens.map((each) => [each.contract, each])),
      stablecoins: new Set([addressOf("UsdCoin")]),
    };
    const priceFeed = (feed: Hex) => ({ feed, heartbeatSeconds: HEARTBEAT_SECONDS });
    const etherFeed = priceFeed(addressOf("EthUsdFeed"));
    const feeds = {
      native: etherFeed,
      sequencer: null,
      tokens: {
        [addressOf("WrappedEther")]: etherFeed,
        [addressOf("UsdCoin")]: priceFeed(addressOf("UsdcUsdFeed")),
      },
    };
    const rpc = createRpc({ urls: [new Secret(chain.rpcUrl)], chainId, log, onCall });
    const { rpcUrl, wsUrl } = chain;
    return {
      slug,
      chainId,
      rpcUrl,
      wsUrl,
      feeds,
      vault: addressOf("Vault4626"),
      lending: { morpho: lending.toLowerCase() as Hex, ids: [id] },
      fundedBlock,
      access: createChainAccess(rpc, config),
      rpc,
      chain,
      publishPrices: () => packages.publishPrices(chain, local),
    };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

/** A wallet that was funded a week ago and has acted since. */
async function prepareMarket(chain: LocalChain, slug: string, packages: DevPackages) {
  const { local } = await packages.deployFundedMarket(chain, slug);
  const { lending, id } = await packages.addPayerLoan(chain, local);
  await setDemoBalances(chain, slug);
  // A block of its own, from which a difference can start.
  await chain.mine();
  const fundedBlock = Number(await chain.request("eth_blockNumber", []));
  await packages.addPayerActivity(chain, local, { lending, permit2: PERMIT2 });
  await setDemoBalances(chain, slug);
  // From here on the time of the chain is that of this machine, and a block of now is final.
  await chain.setNextBlockTimestamp(BigInt(nowSeconds()));
  await packages.publishPrices(chain, local);
  await chain.mine(FINALITY_DEPTH + 1);
  return { local, lending, id, fundedBlock };
}

/** The protocols of the real chains do not exist there. */
export function createLocalPositionReaders(markets: readonly LocalMarket[]): readonly PositionReader[] {
  const byChain = <T>(registryOf: (market: LocalMarket) => T) =>
    new Map(markets.map((market) => [market.chainId, registryOf(market)]));
  return [
    createErc4626Reader(byChain(({ vault }) => ({ proofs: [], vaults: new Set([vault]) }))),
    createMorphoBlueReader(byChain(({ lending }) => [lending])),
  ];
}

/** Everything is deployed and funded by now: what is left pays no fee, so the amounts stay as they are. */
async function setDemoBalances({ request, accounts }: LocalChain, slug: string): Promise<void> {
  for (const [name, wei] of Object.entries(DEMO_BALANCES[slug] ?? {})) {
    const { address } = accounts[name as LocalAccountName];
    await request("hardhat_setBalance", [address, `0x${wei.toString(16)}`]);
  }
}

function token(contract: Hex, symbol: string, name: string, decimals: number): ListedToken {
  return { contract, symbol, name, decimals, logo: null };
}
