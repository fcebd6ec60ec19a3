// Discovery documents for directories and agents: the offering in the three formats they read.
import type { JsonSchema } from "../schema/column.ts";
import type { Offering, PaidRoute, PaymentTerms } from "./offering.ts";

const VERSION = "1.0.0";
const X402_VERSION = 2;

/** `/.well-known/x402.json`. */
export function buildX402Discovery({ routes }: Offering) {
  return {
    version: VERSION,
    resources: routes.map(({ path, method, priceUsd, description, terms }) => ({
      path,
      method,
      price: `$${priceUsd}`,
      network: terms.network,
      description,
    })),
  };
}

/** `/.well-known/x402`. */
export function buildX402Resources({ origin, routes }: Offering) {
  return { version: 1, resources: routes.map(({ path }) => origin + path) };
}

/** `/discovery/resources`. */
export function buildDiscoveryResources({ origin, routes, termsSinceMs }: Offering) {
  const items = routes.map(({ path, description, tags, terms }) => ({
    resource: origin + path,
    type: "http",
    x402Version: X402_VERSION,
    accepts: [terms] satisfies PaymentTerms[],
    lastUpdated: new Date(termsSinceMs).toISOString(),
    metadata: { description, tags },
  }));
  return {
    x402Version: X402_VERSION,
    items,
    pagination: { limit: items.length, offset: 0, total: items.length },
  };
}

/** The OpenAPI extension that states the price of an operation. */
export function buildPaymentExtension({ priceUsd }: PaidRoute): Readonly<Record<`x-${string}`, unknown>> {
  return {
    "x-payment-info": {
      price: { mode: "fixed", amount: priceUsd, currency: "USD" },
      protocols: [{ x402: {} }],
    },
  };
}

const text = { type: "string" };
const whole = { type: "integer" };

function openObject(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

function arrayOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

const termsSchema: JsonSchema = {
  title: "PaymentTerms",
  ...openObject({
    scheme: { type: "string", const: "exact" },
    network: { ...text, description: "CAIP-2 id of the payment chain, such as eip155:8453." },
    amount: {
      ...text,
      pattern: "^[0-9]+$",
      description: "Exact amount of the asset, in its smallest unit.",
    },
    asset: { ...text, description: "Contract of the payment token." },
    payTo: { ...text, description: "Recipient of the payment." },
    maxTimeoutSeconds: { ...whole, description: "Longest validity of a payment after it is signed." },
    extra: openObject({ name: text, version: text }),
  }),
};

/** The body of a 402 response. */
export const paymentRequiredSchema: JsonSchema = {
  title: "PaymentRequired",
  ...openObject({
    error: { ...text, description: "A sentence that says what is wrong." },
    accepts: { ...arrayOf(termsSchema), description: "The same as in the header PAYMENT-REQUIRED." },
  }),
};

export const x402DiscoverySchema: JsonSchema = {
  title: "X402Discovery",
  ...openObject({
    version: text,
    resources: arrayOf({
      title: "X402Resource",
      ...openObject({ path: text, method: text, price: text, network: text, description: text }),
    }),
  }),
};

export const x402ResourcesSchema: JsonSchema = {
  title: "X402Resources",
  ...openObject({
    version: { type: "integer", const: 1 },
    resources: arrayOf({ type: "string", format: "uri" }),
  }),
};

export const discoveryResourcesSchema: JsonSchema = {
  title: "DiscoveryResources",
  ...openObject({
    x402Version: whole,
    items: arrayOf(
      openObject(
        {
          resource: { type: "string", format: "uri" },
          type: { type: "string", const: "http" },
          x402Version: whole,
          accepts: arrayOf(termsSchema),
          lastUpdated: { type: "string", format: "date-time" },
          metadata: openObject({ description: text, tags: arrayOf(text) }),
        },
        ["metadata"],
      ),
    ),
    pagination: openObject({ limit: whole, offset: whole, total: whole }),
  }),
};
