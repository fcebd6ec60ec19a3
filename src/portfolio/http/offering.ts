// The table of what the portfolio service sells: one row, from which every description of it is made.

import { formatAmount } from "../../lib/decimal.ts";
import { type PaymentOffer, paymentRequirementsFor } from "../../payments/paywall/offer.ts";
import type { Offering, PaidRoute } from "../../web/offering.ts";

/** Also what the terms in a 402 answer say about it. */
export const PORTFOLIO_DESCRIPTION =
  "A snapshot of an EVM wallet on the chains you choose: every token with balance, price and value in USD, DeFi positions with debts subtracted, totals that can be re-added, recent activity, spam marked, and warnings about whatever could not be known.";

function portfolioRoute(offer: PaymentOffer): PaidRoute {
  return {
    method: "GET",
    path: "/portfolio",
    description: PORTFOLIO_DESCRIPTION,
    priceUsd: formatAmount(offer.amount, offer.decimals),
    tags: ["wallet", "portfolio", "balances", "defi", "evm"],
    terms: paymentRequirementsFor(offer),
  };
}

export function createPortfolioOffering(offer: PaymentOffer, sinceMs: number): Offering {
  return {
    // Read when it is needed: where nothing is configured it is the address listened on, known only by then.
    get origin() {
      return offer.resourceOrigin;
    },
    name: "Sextant portfolio service",
    description:
      "What an EVM wallet holds and what it is worth, for agents and for people: one request, one small payment, one complete answer.",
    routes: [portfolioRoute(offer)],
    termsSinceMs: sinceMs,
  };
}
