// What the portfolio service sells: one route, from which the terms of a 402 and all descriptions are derived.

import { formatAmount } from "../../lib/decimal.ts";
import { createListing, listingExtensions, shortenSchema } from "../../payments/paywall/listing.ts";
import { type PaymentOffer, paymentRequirementsFor } from "../../payments/paywall/offer.ts";
import type { JsonSchema } from "../../schema/column.ts";
import type { Parameter } from "../../schema/parameter.ts";
import { exampleExcerpt } from "../../web/example-snapshot.ts";
import { FAVICON_PATH } from "../../web/icon.ts";
import type { Offering } from "../../web/offering.ts";
import { createPortfolioParameters, DEFAULT_CHAINS } from "../query.ts";
import { portfolioSnapshotSchema } from "./snapshot-schema.ts";

/** Also part of the terms in a 402 response. */
export const PORTFOLIO_DESCRIPTION =
  "A snapshot of an EVM wallet on the chains you choose: every token with balance, price and USD value, DeFi positions net of debt, totals, recent activity, spam marked, and warnings about what could not be known.";

/** The paid route, as directories list it. */
export const PORTFOLIO_LISTING = createListing({
  method: "GET",
  path: "/portfolio",
  serviceName: "Sextant portfolio service",
  tags: ["wallet", "portfolio", "balances", "defi", "evm"],
  iconPath: FAVICON_PATH,
  input: {
    schema: describeQuery(createPortfolioParameters(DEFAULT_CHAINS).parameters),
    example: { address: exampleExcerpt.address, chains: exampleExcerpt.chains.join(",") },
  },
  // The names of the parts; their fields are in OpenAPI.
  output: { schema: shortenSchema(portfolioSnapshotSchema, 1), example: exampleExcerpt },
});

function describeQuery(parameters: readonly Parameter[]): JsonSchema {
  const properties = Object.fromEntries(parameters.map(({ name, kind }) => [name, kind.json]));
  return {
    ...shortenSchema({ type: "object", properties }, 1),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

export function createPortfolioOffering(offer: PaymentOffer, termsSinceMs: number): Offering {
  const { method, path, tags, serviceName } = PORTFOLIO_LISTING;
  return {
    // A getter: without a configured URL it is the listen address, which is only known later.
    get origin() {
      return offer.resourceOrigin;
    },
    name: serviceName,
    description:
      "The holdings of an EVM wallet and their value, for agents and for people: one request, one small payment, one complete response.",
    routes: [
      {
        method,
        path,
        description: PORTFOLIO_DESCRIPTION,
        priceUsd: formatAmount(offer.amount, offer.decimals),
        tags,
        mimeType: offer.mimeType,
        terms: paymentRequirementsFor(offer),
        extensions: listingExtensions({ listing: PORTFOLIO_LISTING }),
      },
    ],
    termsSinceMs,
  };
}
