// What is sold and on which terms: payment requirements of x402 version 2, and the 402 answer that carries them.
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import type { Caip2Network } from "../../lib/caip2.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { type PaidResource, resourceUrl } from "./paid-request.ts";

export type PaymentOffer = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  /** Name and version in the token's EIP-712 domain, under which payers sign. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly decimals: number;
  readonly payTo: Hex;
  readonly amount: bigint;
  /** How long a signature must stay good: the work, the transfer, and what the way takes. */
  readonly maxTimeoutSeconds: number;
  readonly description: string;
  readonly mimeType: string;
  /** Where clients reach us, from configuration: a Host header is whatever a stranger wrote there. */
  readonly resourceOrigin: string;
};

/** The part of an offer that a payment is held against. */
export type OfferTerms = Pick<PaymentOffer, "network" | "asset" | "payTo" | "amount">;

// Proxies and clients commonly stop at 8 KB of headers; this one must leave room for the others.
const HEADER_LENGTH_MAX = 7_000;
// What directories take.
const DESCRIPTION_LENGTH_MAX = 500;

/** Refuses what could not be paid or would not fit; to be called at the start. */
export function validateOffer(offer: PaymentOffer): PaymentOffer {
  const problem =
    (offer.amount <= 0n && "has no price") ||
    (offer.description.length > DESCRIPTION_LENGTH_MAX &&
      `describes itself in over ${DESCRIPTION_LENGTH_MAX} characters`) ||
    (!/^eip155:[1-9][0-9]*$/.test(offer.network) && "names a network that is not eip155:<chain id>");
  if (problem) throw new Fault("CONFIG_INVALID", `The paid offer ${problem}.`);
  return offer;
}

export function paymentRequirementsFor(offer: PaymentOffer) {
  return {
    scheme: "exact" as const,
    network: offer.network,
    amount: offer.amount.toString(),
    asset: offer.asset,
    payTo: offer.payTo,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    extra: { name: offer.assetName, version: offer.assetVersion },
  } satisfies PaymentRequirements;
}

/** The whole requirement, as its header carries it. */
function paymentRequired(offer: PaymentOffer, resource: PaidResource, reason: string): PaymentRequired {
  // Looked at here and not at the start: without configuration it is the address listened on, known only later.
  if (!/^https?:\/\/[^/?#]+$/.test(offer.resourceOrigin)) {
    throw new Fault("INTERNAL", "The paid offer has an origin that is none.");
  }
  return {
    x402Version: 2,
    error: reason,
    resource: {
      url: resourceUrl(offer.resourceOrigin, resource),
      description: offer.description,
      mimeType: offer.mimeType,
    },
    accepts: [paymentRequirementsFor(offer)],
    extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) },
  };
}

/** The answer to a request that has not been paid for, or not acceptably. */
export function paymentRequiredResponse(
  offer: PaymentOffer,
  resource: PaidResource,
  reason: string,
): EndpointResponse {
  const required = paymentRequired(offer, resource, reason);
  const header = encodeX402Header(required);
  if (header.length > HEADER_LENGTH_MAX) {
    throw new Fault("INTERNAL", "The payment requirements do not fit into a header.");
  }
  return {
    status: 402,
    headers: { "payment-required": header, "cache-control": "no-store", "x-error-code": "PAYMENT_REQUIRED" },
    body: { error: reason, accepts: required.accepts },
  };
}

export function encodeX402Header(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}
