// Every page of the explorer, in the sections and the order of the navigation.
// A page in this table is served, linked and tested.
import * as lists from "./lists.ts";
import type { Page, Section } from "./page.ts";
import { accountPage } from "./pages/account.ts";
import { agentPage, agentsPage } from "./pages/agent.ts";
import { analyticsPage } from "./pages/analytics.ts";
import { facilitatorPage, merchantPage, servicePage } from "./pages/commerce.ts";
import { documentPage } from "./pages/document.ts";
import { blockPage, eventsPage } from "./pages/events.ts";
import { homePage } from "./pages/home.ts";
import { integrityPage } from "./pages/integrity.ts";
import { intentPage } from "./pages/intent.ts";
import { disputePage, quotePage, receiptPage } from "./pages/payments.ts";
import { preflightPage } from "./pages/preflight.ts";
import { searchPage } from "./pages/search.ts";
import { solverPage } from "./pages/solver.ts";
import { transactionPage } from "./pages/transaction.ts";
import { attestationPage, attestorPage, schemaPage, schemasPage } from "./pages/trust.ts";

export const sections: readonly Section[] = [
  { label: "Trade", pages: [lists.intentsPage, intentPage, lists.solversPage, solverPage] },
  { label: "Accounts", pages: [accountPage, preflightPage, agentsPage, agentPage] },
  {
    label: "Commerce",
    pages: [
      ...[lists.merchantsPage, merchantPage, lists.servicesPage, servicePage],
      ...[lists.facilitatorsPage, facilitatorPage, quotePage, lists.receiptsPage, receiptPage],
      ...[lists.disputesPage, disputePage, lists.trustSignalsPage, analyticsPage],
    ],
  },
  {
    label: "Trust",
    pages: [
      ...[lists.attestationsPage, attestationPage, lists.attestorsPage, attestorPage],
      ...[schemasPage, schemaPage],
    ],
  },
  {
    label: "Chain",
    pages: [eventsPage, transactionPage, blockPage, documentPage, integrityPage],
  },
];

export const pages: readonly Page[] = [homePage, ...sections.flatMap((each) => each.pages), searchPage];
