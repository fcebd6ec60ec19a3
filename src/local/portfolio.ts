// The portfolio service of a local run: the two local markets behind a gate that is paid on the local chain.
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import type { Config } from "../config/read-config.ts";
import type { gasSettings, paymentSettings, portfolioSettings, sellerSettings } from "../config/settings.ts";
import { networkOf } from "../lib/caip2.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import type { Offer } from "../payments/paywall/offer.ts";
import { openSeller } from "../portfolio/http/open-paywall.ts";
import { countPayments, servePortfolio } from "../portfolio/http/serve.ts";
import { erc4626 } from "../portfolio/positions/erc4626/reader.ts";
import { priceSources } from "../portfolio/prices/sources.ts";
import { rpcProvider } from "../portfolio/providers/rpc/provider.ts";
import type { Database } from "../store/postgres/database.ts";
import type { LocalMarket } from "./markets.ts";
import type { LocalEconomy } from "./simulation.ts";

export type LocalPortfolio = {
  readonly offer: Offer;
  /** How many payments were carried out so far. */
  settled(): number;
  close(): Promise<void>;
};

type LocalConfig = Config<
  typeof paymentSettings & typeof portfolioSettings & typeof sellerSettings & typeof gasSettings
>;

export async function serveLocalPortfolio(
  app: FastifyInstance,
  needs: {
    readonly config: LocalConfig;
    readonly economy: LocalEconomy;
    readonly markets: readonly LocalMarket[];
    /** Where payments are carried out. */
    readonly facilitator: string;
    readonly database: Database;
    readonly log: Log;
    readonly listensAt: () => string;
  },
): Promise<LocalPortfolio> {
  const { config, economy, markets, database, log, listensAt } = needs;
  const registry = new Registry();
  const counted = countPayments(registry);
  let settled = 0;
  const count: typeof counted = (outcome) => {
    if (outcome === "settled") settled += 1;
    counted(outcome);
  };
  const paid = { ...config, ...localPayment(economy), facilitatorUrl: new Secret(needs.facilitator) };
  const seller = await openSeller(paid, { database, log, count, listensAt });
  const feeds = new Map(markets.map((market) => [market.chainId, market.feeds]));
  const service = servePortfolio(app, {
    chains: markets.map(({ port }) => port),
    provider: rpcProvider,
    // The protocols of the real chains are not there, so nobody is asked about them.
    priceSources: priceSources({ feeds, aaveMarkets: new Map(), spotMarkets: new Map() }),
    positionReaders: [erc4626],
    gate: seller.gate,
    devBypass: seller.devBypass,
    registry,
    log,
  });
  return {
    offer: seller.gate.offer,
    settled: () => settled,
    async close() {
      await service.close();
      seller.close();
    },
  };
}

/** Paid in the local dollar, to the local merchant, carried out by the local facilitator. */
export function localPayment({ deployment, usdCoin, accounts, rpcUrl }: LocalEconomy) {
  return {
    paymentNetwork: networkOf(deployment.chainId),
    paymentRpcUrls: [new Secret(rpcUrl)],
    paymentAsset: usdCoin,
    paymentAssetName: "USD Coin",
    paymentAssetVersion: "2",
    payTo: accounts.merchant.address,
    facilitatorPrivateKey: new Secret(accounts.facilitator.privateKey),
    facilitatorPayees: [accounts.merchant.address],
  };
}
