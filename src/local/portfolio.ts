// The portfolio service of a local run: the two local markets behind a gate that is paid on the local chain.
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { CallObserver } from "../chain/rpc/types.ts";
import type { Config } from "../config/read-config.ts";
import type { gasSettings, paymentSettings, paywallSettings, portfolioSettings } from "../config/settings.ts";
import { toCaip2Network } from "../lib/caip2.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import type { PaymentOffer } from "../payments/paywall/offer.ts";
import { openPortfolioPaywall } from "../portfolio/http/open-paywall.ts";
import { countPaymentOutcomes, servePortfolio } from "../portfolio/http/serve.ts";
import { erc4626Reader } from "../portfolio/positions/erc4626/reader.ts";
import { createPriceSources } from "../portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../portfolio/providers/rpc/provider.ts";
import type { Database } from "../store/postgres/database.ts";
import type { LocalMarket } from "./markets.ts";
import type { LocalSimulation } from "./simulation.ts";

export type LocalPortfolioService = {
  readonly offer: PaymentOffer;
  /** How many payments were carried out so far. */
  settledCount(): number;
  close(): Promise<void>;
};

type LocalConfig = Config<
  typeof paymentSettings & typeof portfolioSettings & typeof paywallSettings & typeof gasSettings
>;

export async function serveLocalPortfolio(
  app: FastifyInstance,
  needs: {
    readonly config: LocalConfig;
    readonly economy: LocalSimulation;
    readonly markets: readonly LocalMarket[];
    /** Where payments are carried out. */
    readonly facilitator: string;
    readonly database: Database;
    readonly log: Log;
    readonly registry: Registry;
    readonly onCall: CallObserver | null;
    readonly listensAt: () => string;
  },
): Promise<LocalPortfolioService> {
  const { config, economy, markets, database, log, registry, onCall, listensAt } = needs;
  const counted = countPaymentOutcomes(registry);
  let settled = 0;
  const count: typeof counted = (outcome) => {
    if (outcome === "settled") settled += 1;
    counted(outcome);
  };
  const paid = {
    ...config,
    ...createLocalPaymentConfig(economy),
    facilitatorUrl: new Secret(needs.facilitator),
  };
  const seller = await openPortfolioPaywall(paid, { database, log, count, onCall, listenUrl: listensAt });
  const feeds = new Map(markets.map((market) => [market.chainId, market.feeds]));
  const service = servePortfolio(app, {
    chains: markets.map(({ access: port }) => port),
    provider: rpcHoldingsProvider,
    // The protocols of the real chains are not there, so nobody is asked about them.
    priceSources: createPriceSources({ feeds, aaveMarkets: new Map(), spotMarkets: new Map() }),
    positionReaders: [erc4626Reader],
    gate: seller.gate,
    devBypass: seller.devBypass,
    registry,
    log,
  });
  return {
    offer: seller.gate.offer,
    settledCount: () => settled,
    async close() {
      await service.close();
      seller.close();
    },
  };
}

/** Paid in the local dollar, to the local merchant, carried out by the local facilitator. */
export function createLocalPaymentConfig({ deployment, usdCoin, accounts, rpcUrl }: LocalSimulation) {
  return {
    paymentNetwork: toCaip2Network(deployment.chainId),
    paymentRpcUrls: [new Secret(rpcUrl)],
    paymentAsset: usdCoin,
    paymentAssetName: "USD Coin",
    paymentAssetVersion: "2",
    payTo: accounts.merchant.address,
    facilitatorPrivateKey: new Secret(accounts.facilitator.privateKey),
    facilitatorPayees: [accounts.merchant.address],
  };
}
