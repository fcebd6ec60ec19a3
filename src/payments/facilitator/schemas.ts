// The bodies of the facilitator's endpoints, as x402 version 2 has them.
import type { JsonSchema } from "../../schema/column.ts";

const ADDRESS = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };

export const FACILITATOR_REQUEST_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    x402Version: { const: 2 },
    paymentPayload: { type: "object" },
    paymentRequirements: {
      type: "object",
      properties: {
        scheme: { const: "exact" },
        network: { type: "string", maxLength: 64 },
        asset: ADDRESS,
        amount: { type: "string", pattern: "^(0|[1-9][0-9]*)$", maxLength: 78 },
        payTo: ADDRESS,
        maxTimeoutSeconds: { type: "integer", minimum: 1, maximum: 86_400 },
      },
      required: ["scheme", "network", "asset", "amount", "payTo", "maxTimeoutSeconds"],
    },
  },
  required: ["x402Version", "paymentPayload", "paymentRequirements"],
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
    transaction: { type: "string", description: "Its hash; empty where none was sent." },
    network: WORD,
    payer: WORD,
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
