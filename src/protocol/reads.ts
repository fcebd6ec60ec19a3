// Every read of the indexed tables that the API offers, in the order of the API description.
import type { Read } from "../schema/reads/read.ts";
import { accountReads } from "./reads/accounts.ts";
import { analyticsReads } from "./reads/analytics.ts";
import { commerceReads } from "./reads/commerce.ts";
import { intentReads } from "./reads/intents.ts";
import { agentReads, registryReads } from "./reads/registries.ts";
import { headReads, totalReads } from "./reads/totals.ts";
import { transactionReads } from "./reads/transactions.ts";

export const indexReads: readonly Read[] = [
  ...agentReads,
  ...intentReads,
  ...accountReads,
  ...registryReads,
  ...commerceReads,
  ...analyticsReads,
  ...totalReads,
  ...transactionReads,
  ...headReads,
];
