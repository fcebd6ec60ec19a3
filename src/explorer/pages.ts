// Every page of the explorer, in the sections and the order of the navigation.
// A page in this table is served, linked and tested.
import type { Page, Section } from "./page.ts";
import { accountPage } from "./pages/account.ts";
import { agentPage } from "./pages/agent.ts";
import { agentsPage } from "./pages/agents.ts";
import { analyticsPage } from "./pages/analytics.ts";
import { attestationPage } from "./pages/attestation.ts";
import { attestationsPage } from "./pages/attestations.ts";
import { attestorPage, attestorsPage } from "./pages/attestors.ts";
import { commercePages } from "./pages/commerce.ts";
import { documentPage } from "./pages/document.ts";
import { blockPage, eventsPage } from "./pages/events.ts";
import { homePage } from "./pages/home.ts";
import { integrityPage } from "./pages/integrity.ts";
import { intentPage } from "./pages/intent.ts";
import { intentsPage } from "./pages/intents.ts";
import { preflightPage } from "./pages/preflight.ts";
import { schemaPage, schemasPage } from "./pages/schemas.ts";
import { searchPage } from "./pages/search.ts";
import { solverPage } from "./pages/solver.ts";
import { solversPage } from "./pages/solvers.ts";
import { transactionPage } from "./pages/transaction.ts";

const trade: Section = { label: "Trade", pages: [intentsPage, intentPage, solversPage, solverPage] };
const accounts: Section = { label: "Accounts", pages: [accountPage, preflightPage, agentsPage, agentPage] };
const commerce: Section = { label: "Commerce", pages: [...commercePages, analyticsPage] };
const trust: Section = {
  label: "Trust",
  pages: [attestationsPage, attestationPage, attestorsPage, attestorPage, schemasPage, schemaPage],
};
const chain: Section = {
  label: "Chain",
  pages: [eventsPage, transactionPage, blockPage, documentPage, integrityPage],
};

export const sections: readonly Section[] = [trade, accounts, commerce, trust, chain];

export const pages: readonly Page[] = [homePage, ...sections.flatMap((each) => each.pages), searchPage];
