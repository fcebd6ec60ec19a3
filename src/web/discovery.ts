// Discovery documents for directories and agents: the offering in the formats they read.
import { addDecimals, formatDecimal, parseDecimal } from "../lib/decimal.ts";
import type { Security } from "../schema/endpoint.ts";
import { type JsonSchema, listOf } from "../schema/json-schema.ts";
import { text } from "../schema/portfolio/values.ts";
import { formatRoutePrice, type Offering, type PaidRoute, type PaymentTerms } from "./offering.ts";

const VERSION = "1.0.0";
const X402_VERSION = 2;

/** `/.well-known/x402.json`. */
export function buildX402Discovery({ routes }: Offering) {
  return {
    version: VERSION,
    resources: routes.map((route) => ({
      path: route.path,
      method: route.method,
      price: formatRoutePrice(route),
      network: route.terms.network,
      description: route.description,
    })),
  };
}

/** `/.well-known/x402`. */
export function buildX402Resources({ origin, routes }: Offering) {
  return {
    version: 1,
    resources: routes.map(({ path }) => origin + path),
    methods: Object.fromEntries(routes.map(({ path, method }) => [origin + path, [method]])),
  };
}

type ResourcesPage = {
  /** Only resources of this type; undefined is every type. */
  readonly type: string | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** `/discovery/resources`. */
export function buildDiscoveryResources(
  { origin, name, routes, termsSinceMs }: Offering,
  { type, limit, offset }: ResourcesPage,
) {
  const all = routes.map(({ path, description, mimeType, tags, terms, extensions }) => ({
    resource: origin + path,
    type: "http",
    x402Version: X402_VERSION,
    accepts: [terms] satisfies PaymentTerms[],
    lastUpdated: new Date(termsSinceMs).toISOString(),
    description,
    mimeType,
    serviceName: name,
    tags,
    extensions,
    metadata: { description, tags },
  }));
  const matching = all.filter((item) => type === undefined || item.type === type);
  return {
    x402Version: X402_VERSION,
    items: matching.slice(offset, offset + limit),
    pagination: { limit, offset, total: matching.length },
  };
}

/** `/.well-known/api-catalog` (RFC 9727): where the description, the documentation and the status of the API are. */
export function buildApiCatalog({ origin }: Pick<Offering, "origin">) {
  const link = (path: string, type: string) => ({ href: origin + path, type });
  return {
    linkset: [
      {
        anchor: `${origin}/`,
        "service-desc": [link("/openapi.json", "application/json")],
        "service-doc": [link("/docs", "text/html"), link("/llms-full.txt", "text/plain")],
        "service-meta": [link("/.well-known/x402.json", "application/json")],
        status: [link("/ready", "application/json")],
      },
    ],
  };
}

/** RFC 9727 names the profile by which a client recognises a catalogue. */
export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** The OpenAPI extension that states the price of an operation. */
export function buildPaymentExtension({
  priceUsd,
  priceUsdPerChain,
  priceUsdSummary,
  priceUsdProof,
  prices,
  terms: { amount, asset: currency },
  description,
  takesMpp,
}: PaidRoute): Readonly<Record<`x-${string}`, unknown>> {
  const chains = prices.at(-1)?.priceUsd ?? priceUsd;
  const max = priceUsdProof === null ? chains : addUsd(chains, priceUsdProof);
  const isFixed = [priceUsdPerChain, priceUsdSummary, priceUsdProof].every((each) => each === null);
  const mpp = { method: "evm", intent: "charge", currency };
  return {
    "x-payment-info": {
      ...(takesMpp ? { offers: [{ ...mpp, amount: isFixed ? amount : null, description }] } : {}),
      price: isFixed
        ? { mode: "fixed", amount: priceUsd, currency: "USD" }
        : { mode: "dynamic", min: priceUsdSummary ?? priceUsd, max, currency: "USD" },
      protocols: [{ x402: {} }, ...(takesMpp ? [{ mpp }] : [])],
    },
  };
}

function addUsd(a: string, b: string): string {
  return formatDecimal(addDecimals(parseDecimal(a, "a price"), parseDecimal(b, "a price")));
}

/**
 * As an apiKey, because OpenAPI knows no payments and tools reject requests over a kind of scheme that they do not
 * know. It is a reference, because x402scan takes a route with an apiKey of its own for one that needs a key besides
 * the payment.
 */
export const X402_SECURITY: Security = {
  name: "x402",
  isReferred: true,
  optional: true,
  scheme: {
    type: "apiKey",
    in: "header",
    name: "PAYMENT-SIGNATURE",
    description:
      "A payment by x402 version 2: not a key, but a signature for one request. Send the request without it to get 402 with the terms in the header PAYMENT-REQUIRED, sign them, and send the same request with the signature.",
  },
};

const whole = { type: "integer" };

function openObject(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

const describeTerms = (scheme: string, extra: JsonSchema): JsonSchema => ({
  title: "PaymentTerms",
  ...openObject({
    scheme: { type: "string", const: scheme },
    network: { ...text, description: "CAIP-2 id of the payment chain, such as eip155:8453." },
    amount: {
      ...text,
      pattern: "^[0-9]+$",
      description: "Exact amount of the asset, in its smallest unit.",
    },
    asset: { ...text, description: "Contract of the payment token." },
    payTo: { ...text, description: "Recipient of the payment." },
    maxTimeoutSeconds: { ...whole, description: "Longest validity of a payment after it is signed." },
    extra,
  }),
});

const termsSchema = describeTerms("exact", openObject({ name: text, version: text }));

const describeRequired = (terms: JsonSchema): JsonSchema => ({
  title: "PaymentRequired",
  ...openObject({
    x402Version: { type: "integer", const: X402_VERSION },
    error: { ...text, description: "A sentence that says what is wrong." },
    accepts: { ...listOf(terms), description: "The same as in the header PAYMENT-REQUIRED." },
  }),
});

/** The body of a 402 response. */
export const paymentRequiredSchema = describeRequired(termsSchema);

/** The same for what only a channel pays. */
export const channelRequiredSchema = describeRequired(
  describeTerms("batch-settlement", { type: "object", description: "Terms of the channel." }),
);

export const x402DiscoverySchema: JsonSchema = {
  title: "X402Discovery",
  ...openObject({
    version: text,
    resources: listOf({
      title: "X402Resource",
      ...openObject({ path: text, method: text, price: text, network: text, description: text }),
    }),
  }),
};

export const x402ResourcesSchema: JsonSchema = {
  title: "X402Resources",
  ...openObject({
    version: { type: "integer", const: 1 },
    resources: listOf({ type: "string", format: "uri" }),
    methods: {
      type: "object",
      additionalProperties: listOf(text),
      description: "The methods of each resource, by its URL.",
    },
  }),
};

export const apiCatalogSchema: JsonSchema = {
  title: "ApiCatalog",
  ...openObject({ linkset: listOf({ type: "object" }) }),
};

export const discoveryResourcesSchema: JsonSchema = {
  title: "DiscoveryResources",
  ...openObject({
    x402Version: whole,
    items: listOf(
      openObject(
        {
          resource: { type: "string", format: "uri" },
          type: { type: "string", const: "http" },
          x402Version: whole,
          accepts: listOf(termsSchema),
          lastUpdated: { type: "string", format: "date-time" },
          description: text,
          mimeType: text,
          serviceName: text,
          tags: listOf(text),
          extensions: { type: "object" },
          metadata: openObject({ description: text, tags: listOf(text) }),
        },
        ["description", "mimeType", "serviceName", "tags", "extensions", "metadata"],
      ),
    ),
    pagination: openObject({ limit: whole, offset: whole, total: whole }),
  }),
};
