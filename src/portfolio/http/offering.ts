// Lists what the portfolio service sells: the offer of each paid route, and the offering from which descriptions are derived.

import { formatAmount } from "../../lib/decimal.ts";
import { FAVICON_PATH } from "../../lib/html.ts";
import type { Sale } from "../../payments/paywall/gate.ts";
import {
  amountOf,
  createListing,
  listingExtensions,
  type PaymentOffer,
  paymentRequirementsFor,
  type ResourceListing,
  shortenSchema,
} from "../../payments/paywall/offer.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { Parameter } from "../../schema/parameter.ts";
import type { Offering, PaidRoute } from "../../web/offering.ts";
import { DEFAULT_CHAINS, SUPPORTED_CHAINS } from "../query.ts";
import type { PaidRouteDeclaration } from "./routes/paid-route.ts";

const SERVICE_NAME = "Sextant portfolio service";

/** A paid route with the sale of its offer. */
export type SoldRoute = { readonly declaration: PaidRouteDeclaration; readonly sale: Sale };

/** The parts of a route that an offer uses. */
export function describeOffer(
  declaration: PaidRouteDeclaration,
): Pick<PaymentOffer, "description" | "mimeType" | "listing"> {
  const { description } = declaration;
  return { description, mimeType: "application/json", listing: createRouteListing(declaration) };
}

/** The route, as directories list it. */
function createRouteListing(declaration: PaidRouteDeclaration): ResourceListing {
  const { path, tags, body, exampleQuery, response, responseExcerpt } = declaration;
  const { parameters } = declaration.createQuery(DEFAULT_CHAINS);
  return createListing({
    method: body ? "POST" : "GET",
    path,
    serviceName: SERVICE_NAME,
    tags,
    iconPath: FAVICON_PATH,
    input: body
      ? { schema: shortenSchema(body.schema, 1), example: body.example }
      : { schema: describeQuery(parameters), example: exampleQuery },
    // The names of the parts that every response has; their types and fields are in OpenAPI.
    output: { schema: nameRequired(response), example: responseExcerpt },
  });
}

function nameRequired({ required }: JsonSchema): JsonSchema {
  const names = (required ?? []) as readonly string[];
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

/** Optional parameters appear with their name only: the whole must fit into a header. */
function describeQuery(parameters: readonly Parameter[]): JsonSchema {
  const properties = parameters.map(({ name, required, kind: { json } }) => [name, required ? json : {}]);
  return {
    ...shortenSchema({ type: "object", properties: Object.fromEntries(properties) }, 1),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Throws without a route: there would be nothing to describe. */
export function createPortfolioOffering(sold: readonly SoldRoute[], termsSinceMs: number): Offering {
  const [first] = sold;
  if (first === undefined) throw new TypeError("The portfolio service sells nothing.");
  return {
    // A getter: without a configured URL it is the listen address, which is only known later.
    get origin() {
      return first.sale.offer.resourceOrigin;
    },
    name: SERVICE_NAME,
    description:
      "The holdings of an EVM wallet and their value, for agents and for people: one request, one small payment, one complete response.",
    routes: sold.map(describePaidRoute),
    termsSinceMs,
  };
}

export function describePaidRoute({ declaration, sale: { offer } }: SoldRoute): PaidRoute {
  const { path, summary, tags, body } = declaration;
  const { parameters } = declaration.createQuery(DEFAULT_CHAINS);
  return {
    method: body ? "POST" : "GET",
    path,
    summary,
    description: offer.description,
    ...describePrices(offer),
    tags,
    mimeType: offer.mimeType,
    query: Object.fromEntries(parameters.map(({ name, example }) => [name, String(example ?? "")])),
    terms: paymentRequirementsFor(offer),
    takesMpp: offer.mpp !== undefined,
    extensions: listingExtensions(offer),
  };
}

/** Exact texts for everything that names a price. */
function describePrices(
  offer: PaymentOffer,
): Pick<PaidRoute, "priceUsd" | "priceUsdPerChain" | "priceUsdSummary" | "priceUsdProof" | "prices"> {
  const { amount, amountPerChain, summaryAmount, proofAmount, decimals } = offer;
  const prices = SUPPORTED_CHAINS.map((_, index) => {
    const units = amountOf(offer, { chainCount: index + 1 });
    return { amount: units.toString(), priceUsd: formatAmount(units, decimals) };
  });
  return {
    priceUsd: formatAmount(amount, decimals),
    priceUsdPerChain: amountPerChain ? formatAmount(amountPerChain, decimals) : null,
    priceUsdSummary: summaryAmount === undefined ? null : formatAmount(summaryAmount, decimals),
    priceUsdProof: proofAmount === undefined ? null : formatAmount(proofAmount, decimals),
    prices,
  };
}
