// The envelope of a payment: what every scheme of x402 has in common, parsed strictly before a scheme reads its payload.
import {
  PAYMENT_ID_MAX_LENGTH,
  PAYMENT_ID_MIN_LENGTH,
  PAYMENT_ID_PATTERN,
  PAYMENT_IDENTIFIER,
} from "@x402/extensions/payment-identifier";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../../lib/json.ts";
import type { OfferTerms } from "./offer.ts";

export type PaymentEnvelope = {
  readonly scheme: string;
  readonly payload: JsonObject;
  /** For the scheme to read, which says first whether it takes the payment at all. */
  readonly extensions: unknown;
};

/** Well-formed, but of a kind that we do not accept. */
export type UnsupportedPayment = { readonly unsupported: string };

// Node accepts 16 KB of headers in all. A contract account's signature with its factory call needs up to 4 KB, which
// take eleven here, and clients return the extensions of the 402.
export const HEADER_LENGTH_MAX = 15_360;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HEADER = "The PAYMENT-SIGNATURE header";

/** To a client of version 1, which pays with another header. */
export const VERSION_1_MESSAGE =
  "X-PAYMENT is of x402 version 1, and this is version 2: sign the terms in PAYMENT-REQUIRED, and send PAYMENT-SIGNATURE.";

export function parsePaymentHeader(
  header: string,
  terms: Pick<OfferTerms, "network" | "asset">,
): PaymentEnvelope | UnsupportedPayment {
  if (header.length > HEADER_LENGTH_MAX) {
    throw invalidPayment(HEADER, `must have at most ${HEADER_LENGTH_MAX} characters.`);
  }
  if (!BASE64.test(header)) throw invalidPayment(HEADER, "must be base64 of a JSON text.");
  return parseEnvelope(parseStrictJson(Buffer.from(header, "base64"), HEADER), terms, HEADER);
}

/** Throws INPUT_INVALID for anything that is not a payment; `what` begins the message. */
export function parseEnvelope(
  value: unknown,
  terms: Pick<OfferTerms, "network" | "asset">,
  what: string,
): PaymentEnvelope | UnsupportedPayment {
  const envelope = recordIn(value, "", what);
  const { x402Version } = envelope;
  if (!Number.isInteger(x402Version)) throw invalidPayment(what, "must have an x402Version.");
  if (x402Version !== 2) {
    return {
      unsupported: `The payment is of x402 version ${x402Version}, and only version 2 is accepted: sign the terms in the header PAYMENT-REQUIRED.`,
    };
  }
  const accepted = recordIn(envelope.accepted, "accepted", what);
  const payload = recordIn(envelope.payload, "payload", what);
  const scheme = textIn(accepted, "scheme", what);
  if (textIn(accepted, "network", what) !== terms.network) {
    return { unsupported: `Payments are accepted on ${terms.network} only.` };
  }
  if (textIn(accepted, "asset", what).toLowerCase() !== terms.asset) {
    return { unsupported: `Payments are accepted in the token ${terms.asset} only.` };
  }
  return { scheme, payload, extensions: envelope.extensions };
}

/**
 * The identifier in the payment-identifier extension, by which a client names a purchase so that a retry buys nothing
 * twice; null without one. The client also sends a schema, which we ignore: compiling it would run foreign code.
 */
export function parsePaymentIdentifier(extensions: unknown): string | null {
  const id = field(field(field(extensions, PAYMENT_IDENTIFIER), "info"), "id");
  if (id === undefined) return null;
  if (typeof id === "string" && PAYMENT_ID_PATTERN.test(id)) {
    if (id.length >= PAYMENT_ID_MIN_LENGTH && id.length <= PAYMENT_ID_MAX_LENGTH) return id;
  }
  throw new Fault(
    "INPUT_INVALID",
    `The payment identifier must have ${PAYMENT_ID_MIN_LENGTH} to ${PAYMENT_ID_MAX_LENGTH} letters, digits, hyphens or underscores.`,
  );
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

export function recordIn(value: unknown, name: string, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidPayment(what, name === "" ? "must be a JSON object." : `must have an object "${name}".`);
}

function textIn(accepted: JsonObject, name: string, what: string): string {
  const value = accepted[name];
  if (typeof value !== "string") throw invalidPayment(what, `must have a text "accepted.${name}".`);
  return value;
}

export function invalidPayment(what: string, sentence: string): Fault {
  return new Fault("INPUT_INVALID", `${what} ${sentence}`);
}
