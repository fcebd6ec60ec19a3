// A scheme of x402: one entry of `accepts`, and all that happens to a payment which arrives under its name.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { PaidHandler, PaidResource, PaymentOffer } from "./offer.ts";
import type { PaymentEnvelope } from "./payment-envelope.ts";

/** A request with a payment, whose envelope is parsed. */
export type SchemeRequest = {
  readonly offer: PaymentOffer;
  readonly resource: PaidResource;
  readonly envelope: PaymentEnvelope;
  readonly handler: PaidHandler;
  readonly client: string;
};

export type PaymentScheme = {
  readonly name: string;
  /**
   * Parses the payload, verifies and reserves the payment, runs the handler, stores and charges. Throws what the handler
   * throws, and INPUT_INVALID for a payload that is not a payment; otherwise every outcome is a response.
   */
  serve(request: SchemeRequest): Promise<EndpointResponse>;
};

/** The 402 for a request whose payment no scheme takes. */
export type PaymentChallenge = (
  offer: PaymentOffer,
  resource: PaidResource,
  reason: string,
) => EndpointResponse;
