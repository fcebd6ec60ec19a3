// The pages of commerce, in the order of the navigation.
import type { Page } from "../page.ts";
import { disputePage } from "./dispute.ts";
import { disputesPage } from "./disputes.ts";
import { facilitatorPage } from "./facilitator.ts";
import { facilitatorsPage } from "./facilitators.ts";
import { merchantPage } from "./merchant.ts";
import { merchantsPage } from "./merchants.ts";
import { quotePage } from "./quote.ts";
import { receiptPage } from "./receipt.ts";
import { receiptsPage } from "./receipts.ts";
import { servicePage } from "./service.ts";
import { servicesPage } from "./services.ts";
import { trustSignalsPage } from "./trust-signals.ts";

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
