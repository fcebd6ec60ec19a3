// The bodies of the facilitator's endpoints, as x402 version 2 has them.
import type { JsonSchema, TypeOf } from "../../schema/json-schema.ts";
import { CHANNEL_SCHEME } from "../channels/channel-terms.ts";

const ADDRESS = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" } as const;

export type FacilitatorRequest = TypeOf<typeof FACILITATOR_REQUEST_SCHEMA>;

/** The payload is of a scheme, which parses it: it arrives at a paid route in the same form. */
export const FACILITATOR_REQUEST_SCHEMA = {
  type: "object",
  properties: {
    x402Version: { const: 2 },
    paymentPayload: { type: "object" },
    paymentRequirements: {
      type: "object",
      properties: {
        scheme: { enum: ["exact", CHANNEL_SCHEME] },
        network: { type: "string", maxLength: 64 },
        asset: ADDRESS,
        amount: { type: "string", pattern: "^(0|[1-9][0-9]*)$", maxLength: 78 },
        payTo: ADDRESS,
        maxTimeoutSeconds: { type: "integer", minimum: 1, maximum: 86_400 },
        extra: { description: "Name and version of the token's EIP-712 domain; ours count." },
      },
      required: ["scheme", "network", "asset", "amount", "payTo", "maxTimeoutSeconds"],
    },
  },
  required: ["x402Version", "paymentPayload", "paymentRequirements"],
} as const;

// An example from a local run: the payer pays the merchant one cent. Its time is over, so that it is verified as
// expired.
const EXAMPLE_TERMS = {
  scheme: "exact",
  network: "eip155:31337",
  asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
  amount: "10000",
  payTo: "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" },
};

export const FACILITATOR_REQUEST_EXAMPLE = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: EXAMPLE_TERMS,
    payload: {
      authorization: {
        from: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955",
        to: EXAMPLE_TERMS.payTo,
        value: EXAMPLE_TERMS.amount,
        validAfter: "0",
        validBefore: "1767225660",
        nonce: `0x${"5e".repeat(32)}`,
      },
      signature: `0x${"5e".repeat(64)}1b`,
    },
  },
  paymentRequirements: EXAMPLE_TERMS,
};

const WORD = { type: "string" };

export const VERIFY_RESPONSE_SCHEMA: JsonSchema = {
  title: "PaymentVerification",
  type: "object",
  properties: { isValid: { type: "boolean" }, invalidReason: WORD, invalidMessage: WORD, payer: WORD },
  required: ["isValid"],
};

export const SETTLE_RESPONSE_SCHEMA: JsonSchema = {
  title: "PaymentSettlement",
  type: "object",
  properties: {
    success: { type: "boolean" },
    errorReason: WORD,
    errorMessage: WORD,
    transaction: { type: "string", description: "The hash of the transaction; empty if none was sent." },
    network: WORD,
    payer: WORD,
    amount: { type: "string", description: "What a deposit into a channel has brought." },
  },
  required: ["success", "transaction", "network"],
};

export const SUPPORTED_RESPONSE_SCHEMA: JsonSchema = {
  title: "SupportedPayments",
  type: "object",
  properties: {
    kinds: {
      type: "array",
      items: {
        type: "object",
        properties: { x402Version: { type: "integer" }, scheme: WORD, network: WORD },
        required: ["x402Version", "scheme", "network"],
      },
    },
    extensions: { type: "array", items: WORD },
    signers: { type: "object", additionalProperties: { type: "array", items: WORD } },
  },
  required: ["kinds", "extensions", "signers"],
};
