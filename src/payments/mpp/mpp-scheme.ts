// Payments by the Machine Payments Protocol: transfers as in x402's `exact`, with other headers around them.

import { chainIdOfNetwork } from "../../lib/caip2.ts";
import type { Clock } from "../../lib/clock.ts";
import { formatMoment } from "../../lib/moment.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { type PaymentOffer, resourceFingerprint } from "../paywall/offer.ts";
import type { PaymentChallenge, SchemeRequest, ServeTransfer } from "../paywall/payment-scheme.ts";
import { encodeJson, MPP_METHOD } from "./challenges.ts";
import { type Credential, findMismatch, parseCredential } from "./credential.ts";

export type CredentialRequest = Omit<SchemeRequest, "envelope"> & { readonly credential: string };

const NOT_ISSUED = "The challenge was not issued for this request on these terms; pay the new one.";

/** Throws as the serve function of a scheme. */
export function createMppScheme(services: {
  readonly clock: Clock;
  readonly serveTransfer: ServeTransfer;
  readonly challenge: PaymentChallenge;
}): (request: CredentialRequest) => Promise<EndpointResponse> {
  const { clock, serveTransfer, challenge } = services;
  return async ({ credential: header, ...request }) => {
    const { offer, resource } = request;
    if (offer.mpp === undefined)
      return challenge(offer, resource, "Payment credentials are not accepted here.");
    const credential = parseCredential(header);
    if ("unsupported" in credential) return challenge(offer, resource, credential.unsupported);
    const isIssued = offer.mpp.hasIssued(credential.challenge, offer, resourceFingerprint(resource));
    return serveTransfer({
      ...request,
      payment: credential.payment,
      problem: isIssued ? findMismatch(credential, offer) : NOT_ISSUED,
      receiptFor: (transaction) => describeReceipt(credential, offer, transaction, clock.nowMs()),
    });
  };
}

function describeReceipt(
  { challenge }: Credential,
  { network }: PaymentOffer,
  transaction: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const receipt = {
    method: MPP_METHOD,
    challengeId: challenge.id,
    reference: transaction,
    status: "success",
    timestamp: formatMoment(nowMs / 1_000),
    chainId: chainIdOfNetwork(network),
  };
  return { "payment-receipt": encodeJson(receipt) };
}
