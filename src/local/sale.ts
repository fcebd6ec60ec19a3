// The sale of reads in a local run with API_PRICE_USD, for local money.
import type { Registry } from "prom-client";
import { type ApiSale, openApiSale } from "../api/sale/open-sale.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import type { Config } from "../config/read-config.ts";
import type { allSettings } from "../config/settings.ts";
import type { SigningKeys } from "../http/signing/signing-keys.ts";
import type { Log } from "../lib/log.ts";
import { Secret } from "../lib/secret.ts";
import type { CloseStack } from "../lib/shutdown.ts";
import { countPaymentOutcomes, startReconciling } from "../payments/watch-payments.ts";
import type { Database } from "../store/postgres/database.ts";
import { createLocalPaymentConfig } from "./portfolio.ts";
import type { LocalSimulation } from "./simulation.ts";

/** Null without a price. Needs PAYMENT_CHANNELS, as every service that sells reads does. */
export async function openLocalSale(
  config: Config<typeof allSettings>,
  {
    simulation,
    facilitatorUrl,
    registry,
    opened,
    ...needs
  }: {
    readonly simulation: LocalSimulation;
    readonly facilitatorUrl: string;
    readonly database: Database;
    readonly registry: Registry;
    readonly onCall: CallObserver;
    readonly log: Log;
    readonly listenUrl: () => string;
    readonly signingKeys: SigningKeys;
    readonly opened: CloseStack;
  },
): Promise<ApiSale | null> {
  const local = { ...config, ...createLocalPaymentConfig(simulation) };
  const sold = await openApiSale(
    { ...local, facilitatorUrl: new Secret(facilitatorUrl) },
    { ...needs, count: countPaymentOutcomes(registry) },
  );
  if (sold === null) return null;
  opened.push(sold.close);
  opened.push(startReconciling(sold.gate.reconcile, needs.log).close);
  return sold.sale;
}
