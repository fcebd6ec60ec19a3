// How directories and agents find what is sold: the same table in the three forms they read.
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
export function buildDiscoveryResources({ origin, routes, termsSinceMs: sinceMs }: Offering) {
  const items = routes.map(({ path, description, tags, terms }) => ({
    resource: origin + path,
    type: "http",
    x402Version: X402_VERSION,
    accepts: [terms] satisfies PaymentTerms[],
    lastUpdated: new Date(sinceMs).toISOString(),
    metadata: { description, tags },
  }));
  return {
    x402Version: X402_VERSION,
    items,
    pagination: { limit: items.length, offset: 0, total: items.length },
  };
}

/** What an operation of an OpenAPI document says about its price. */
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

function record(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

const termsSchema: JsonSchema = {
  title: "PaymentTerms",
  ...record({
    scheme: { type: "string", const: "exact" },
    network: { ...text, description: "CAIP-2 id of the chain that is paid on, such as eip155:8453." },
    amount: {
      ...text,
      pattern: "^[0-9]+$",
      description: "Exactly this much of the asset, in its smallest unit.",
    },
    asset: { ...text, description: "Contract of the token that is paid with." },
    payTo: { ...text, description: "Who receives it." },
    maxTimeoutSeconds: { ...whole, description: "Longest validity of a payment from when it is signed." },
    extra: record({ name: text, version: text }),
  }),
};

/** The body of a 402 answer. */
export const paymentRequiredSchema: JsonSchema = {
  title: "PaymentRequired",
  ...record({
    error: { ...text, description: "One clear sentence." },
    accepts: { ...listOf(termsSchema), description: "The same as in the header PAYMENT-REQUIRED." },
  }),
};

export const x402DiscoverySchema: JsonSchema = {
  title: "X402Discovery",
  ...record({
    version: text,
    resources: listOf({
      title: "X402Resource",
      ...record({ path: text, method: text, price: text, network: text, description: text }),
    }),
  }),
};

export const x402ResourcesSchema: JsonSchema = {
  title: "X402Resources",
  ...record({ version: { type: "integer", const: 1 }, resources: listOf({ type: "string", format: "uri" }) }),
};

export const discoveryResourcesSchema: JsonSchema = {
  title: "DiscoveryResources",
  ...record({
    x402Version: whole,
    items: listOf(
      record(
        {
          resource: { type: "string", format: "uri" },
          type: { type: "string", const: "http" },
          x402Version: whole,
          accepts: listOf(termsSchema),
          lastUpdated: { type: "string", format: "date-time" },
          metadata: record({ description: text, tags: listOf(text) }),
        },
        ["metadata"],
      ),
    ),
    pagination: record({ limit: whole, offset: whole, total: whole }),
  }),
};
