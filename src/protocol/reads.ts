// Every read of the indexed tables that the API offers.
import type { Read } from "../schema/reads/read.ts";
import { analyticsReads } from "./reads/analytics.ts";
import { attestationReads } from "./reads/attestations.ts";
import { attestorReads } from "./reads/attestors.ts";
import { bidReads } from "./reads/bids.ts";
import { merchantReads } from "./reads/commerce.ts";
import { disputeReads } from "./reads/disputes.ts";
import { facilitatorReads } from "./reads/facilitators.ts";
import { intentReads } from "./reads/intents.ts";
import { policyReads } from "./reads/policies.ts";
import { quoteReads } from "./reads/quotes.ts";
import { receiptReads } from "./reads/receipts.ts";
import { agentReads } from "./reads/registries.ts";
import { serviceReads } from "./reads/services.ts";
import { solverReads } from "./reads/solvers.ts";
import { transactionReads } from "./reads/transactions.ts";
import { trustSignalReads } from "./reads/trust-signals.ts";

export const indexReads: readonly Read[] = [
  ...agentReads,
  ...intentReads,
  ...bidReads,
  ...policyReads,
  ...attestationReads,
  ...solverReads,
  ...attestorReads,
  ...merchantReads,
  ...serviceReads,
  ...facilitatorReads,
  ...quoteReads,
  ...receiptReads,
  ...trustSignalReads,
  ...disputeReads,
  ...analyticsReads,
  ...transactionReads,
];
