// The pages of commerce, in the order of the navigation.
import { defineListPage } from "../list-page.ts";
import type { Page } from "../page.ts";
import {
  disputeList,
  facilitatorList,
  merchantList,
  receiptList,
  serviceList,
  signalList,
} from "./commerce-lists.ts";
import { disputePage } from "./dispute.ts";
import { facilitatorPage } from "./facilitator.ts";
import { merchantPage } from "./merchant.ts";
import { quotePage } from "./quote.ts";
import { receiptPage } from "./receipt.ts";
import { servicePage } from "./service.ts";

const merchantsPage = defineListPage(merchantList, {
  title: "Merchants",
  lead: "Who sells. Each merchant is an entry of CommerceRegistry with an owner, an address to pay out to, and what it says about itself.",
  order: "By number",
  example: { active: "true" },
});

const servicesPage = defineListPage(serviceList, {
  title: "Services",
  lead: "What merchants offer. An agent gets a quote for a service, pays it, and has a receipt.",
  order: "By number",
  example: { active: "true" },
});

const facilitatorsPage = defineListPage(facilitatorList, {
  title: "Facilitators",
  lead: "Who settles payments for merchants. Receipts of the rails facilitator and x402 are recorded by one.",
  order: "By number",
  example: { active: "true" },
});

const receiptsPage = defineListPage(receiptList, {
  title: "Receipts",
  lead: "Payments that are settled: who paid whom, for which service, how, and whether it was delivered.",
  order: "Newest first",
  example: { merchant_id: "1" },
});

const disputesPage = defineListPage(disputeList, {
  title: "Disputes",
  lead: "Receipts that an agent or a merchant contests, and how each ended.",
  order: "Newest first",
  example: { status: "resolved" },
});

const trustSignalsPage = defineListPage(signalList, {
  title: "Trust signals",
  lead: "What reporters say about merchants, services, facilitators and agents. A signal is the word of its reporter: look who it is.",
  order: "Newest first",
  example: { subject_type: "0" },
});

export const commercePages: readonly Page[] = [
  merchantsPage,
  merchantPage,
  servicesPage,
  servicePage,
  facilitatorsPage,
  facilitatorPage,
  quotePage,
  receiptsPage,
  receiptPage,
  disputesPage,
  disputePage,
  trustSignalsPage,
];
