// The portfolio service of a local run: snapshots of the two local markets, paid on the local chain.

import { localAccount } from "@sextant/local-chain/accounts";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { CallObserver } from "../chain/rpc/types.ts";
import type {
  channelSettings,
  gasSettings,
  paymentSettings,
  paywallSettings,
} from "../config/payment-settings.ts";
import type { portfolioSettings } from "../config/portfolio-settings.ts";
import type { Config } from "../config/read-config.ts";
import type { SigningKeys } from "../http/signing/signing-keys.ts";
import { toCaip2Network } from "../lib/caip2.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import type { PaymentOffer } from "../payments/paywall/offer.ts";
import { countPaymentOutcomes } from "../payments/watch-payments.ts";
import { openStoredSnapshots } from "../portfolio/diff/figures.ts";
import { openPortfolioPaywall } from "../portfolio/http/open-paywall.ts";
import { showExamples } from "../portfolio/http/routes/paid-routes.ts";
import { portfolioRoute } from "../portfolio/http/routes/portfolio.ts";
import { servePortfolio } from "../portfolio/http/serve.ts";
import { createPriceSources } from "../portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../portfolio/providers/rpc/provider.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { openSnapshotTable } from "../store/postgres/stored-snapshots.ts";
import { createLocalPositionReaders, type LocalMarket } from "./markets.ts";
import type { LocalSimulation } from "./simulation.ts";

export type LocalPortfolioService = {
  readonly offer: PaymentOffer;
  /** Number of payments settled so far. */
  settledCount(): number;
  close(): Promise<void>;
};

type LocalConfig = Config<
  typeof paymentSettings &
    typeof portfolioSettings &
    typeof paywallSettings &
    typeof channelSettings &
    typeof gasSettings
>;

/** Blocks of every run: once the example wallet is funded, and after its activity. */
export const LOCAL_EXAMPLES = {
  block: "base:34,ethereum:34",
  from: "base:34,ethereum:34",
  to: "base:39,ethereum:39",
};

export async function serveLocalPortfolio(
  app: FastifyInstance,
  dependencies: {
    readonly config: LocalConfig;
    readonly simulation: LocalSimulation;
    readonly markets: readonly LocalMarket[];
    readonly facilitatorUrl: string;
    readonly database: Database;
    readonly log: Log;
    readonly registry: Registry;
    readonly onCall: CallObserver | null;
    readonly listenUrl: () => string;
    readonly signingKeys: SigningKeys;
  },
): Promise<LocalPortfolioService> {
  const { config, simulation, markets, database, log, registry, onCall, listenUrl, signingKeys } =
    dependencies;
  const countOutcome = countPaymentOutcomes(registry);
  let settled = 0;
  const count: typeof countOutcome = (outcome) => {
    if (outcome === "settled") settled += 1;
    countOutcome(outcome);
  };
  const paymentConfig = {
    ...config,
    ...createLocalPaymentConfig(simulation),
    facilitatorUrl: new Secret(dependencies.facilitatorUrl),
  };
  const routes = showExamples(LOCAL_EXAMPLES);
  const paywall = await openPortfolioPaywall(paymentConfig, {
    database,
    log,
    count,
    onCall,
    listenUrl,
    signingKeys,
    routes,
  });
  const feeds = new Map(markets.map((market) => [market.chainId, market.feeds]));
  const service = servePortfolio(app, {
    chains: markets.map(({ access }) => access),
    provider: rpcHoldingsProvider,
    // The price protocols of the real chains do not exist here.
    priceSources: createPriceSources({ feeds, aaveMarkets: new Map(), spotMarkets: new Map() }),
    positionReaders: createLocalPositionReaders(markets),
    storedSnapshots: openStoredSnapshots(openSnapshotTable(openRecordStore(database))),
    sold: paywall.sold,
    reconcile: paywall.reconcile,
    devBypass: paywall.devBypass,
    // Its keys are public anyway, so wallets may use the node.
    paymentRpcUrl: simulation.rpcUrl,
    signingKeys,
    registry,
    log,
  });
  const snapshots = paywall.sold.find(({ declaration }) => declaration.path === portfolioRoute.path);
  if (snapshots === undefined) throw new TypeError("The local run sells no snapshots.");
  return {
    offer: snapshots.sale.offer,
    settledCount: () => settled,
    async close() {
      await service.close();
      await paywall.close();
    },
  };
}

/** Signs claims of channels, if a run has PAYMENT_CHANNELS; public, as all keys of a run are. */
export const localChannelAccount = () => localAccount(22);

/** Payments in local USDC to the local merchant, settled by the local facilitator. */
export function createLocalPaymentConfig(
  { deployment, usdCoin, accounts, rpcUrl }: LocalSimulation,
  morePayees: readonly Hex[] = [],
) {
  return {
    paymentNetwork: toCaip2Network(deployment.chainId),
    paymentRpcUrls: [new Secret(rpcUrl)],
    paymentAsset: usdCoin,
    paymentAssetName: "USD Coin",
    paymentAssetVersion: "2",
    payTo: accounts.merchant.address,
    channelKey: new Secret(localChannelAccount().privateKey),
    facilitatorPrivateKey: new Secret(accounts.facilitator.privateKey),
    facilitatorPayees: [accounts.merchant.address, ...morePayees],
  };
}
