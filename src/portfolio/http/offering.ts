// What the portfolio service sells: one route, from which all its descriptions are derived.

import { formatAmount } from "../../lib/decimal.ts";
import { type PaymentOffer, paymentRequirementsFor } from "../../payments/paywall/offer.ts";
import type { Offering, PaidRoute } from "../../web/offering.ts";

/** Also part of the terms in a 402 response. */
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

export function createPortfolioOffering(offer: PaymentOffer, termsSinceMs: number): Offering {
  return {
    // A getter: without a configured URL it is the listen address, which is only known later.
    get origin() {
      return offer.resourceOrigin;
    },
    name: "Sextant portfolio service",
    description:
      "The holdings of an EVM wallet and their value, for agents and for people: one request, one small payment, one complete response.",
    routes: [portfolioRoute(offer)],
    termsSinceMs,
  };
}
