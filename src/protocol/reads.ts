// Every read of the indexed tables that the API offers.
import type { Read } from "../schema/reads/read.ts";
import { analyticsReads } from "./reads/analytics.ts";
import { attestationReads } from "./reads/attestations.ts";
import { attestorReads } from "./reads/attestors.ts";
import { bidReads } from "./reads/bids.ts";
import {
  disputeReads,
  facilitatorReads,
  merchantReads,
  quoteReads,
  receiptReads,
  serviceReads,
  trustSignalReads,
} from "./reads/commerce.ts";
import { intentReads } from "./reads/intents.ts";
import { policyReads } from "./reads/policies.ts";
import { agentReads } from "./reads/registries.ts";
import { solverReads } from "./reads/solvers.ts";
import { transactionReads } from "./reads/transactions.ts";

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
