// A scheme of x402: one entry of `accepts`, and all that happens to a payment which arrives under its name.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { PaidHandler, PaidResource, PaymentOffer } from "./offer.ts";
import type { Payment } from "./payment.ts";
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

/** A request with an EIP-3009 transfer, and what its protocol adds to the flow of payments. */
export type TransferRequest = Omit<SchemeRequest, "envelope"> & {
  readonly payment: Payment;
} & Partial<ProtocolRules>;

export type ProtocolRules = {
  /** Why the transfer does not pay for the request; null if it does. It is then served only if it did earlier. */
  readonly problem: string | null;
  /** Headers of a successful response, besides PAYMENT-RESPONSE. */
  readonly receiptFor: (transaction: string) => Readonly<Record<string, string>>;
};

/** Verifies and reserves the payment, runs the handler, stores and charges. */
export type ServeTransfer = (request: TransferRequest) => Promise<EndpointResponse>;

/** The 402 for a request whose payment no scheme takes. */
export type PaymentChallenge = (
  offer: PaymentOffer,
  resource: PaidResource,
  reason: string,
) => EndpointResponse;
