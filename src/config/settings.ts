// Every environment variable of Sextant, for what reads or checks all of them.
import { clientSettings } from "./client-settings.ts";
import {
  apiSettings,
  eventSettings,
  indexerSettings,
  replicaSettings,
  webhookCommandSettings,
  webhookSettings,
  writeSettings,
} from "./indexing-settings.ts";
import {
  channelSettings,
  facilitatorSettings,
  ledgerSettings,
  paymentSettings,
  paywallSettings,
} from "./payment-settings.ts";
import { portfolioSettings } from "./portfolio-settings.ts";
import {
  databaseSettings,
  listenSettings,
  metricsSettings,
  processSettings,
  requestSettings,
  signingSettings,
} from "./service-settings.ts";

/** Settings of `sextant local`. Variables with our prefix that are not listed here are rejected as typos. */
export const allSettings = {
  ...processSettings,
  ...listenSettings,
  ...metricsSettings,
  ...requestSettings,
  ...indexerSettings,
  ...apiSettings,
  ...replicaSettings,
  ...eventSettings,
  ...writeSettings,
  ...webhookSettings,
  ...webhookCommandSettings,
  ...signingSettings,
  ...portfolioSettings,
  ...paywallSettings,
  ...paymentSettings,
  ...channelSettings,
  ...facilitatorSettings,
  ...ledgerSettings,
  ...databaseSettings,
  ...clientSettings,
};

export const variableRules = {
  prefixes: ["SEXTANT_"],
  known: Object.values(allSettings).map((each) => each.variable),
};
