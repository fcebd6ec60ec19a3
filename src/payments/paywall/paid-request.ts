// The words of the gate: what is asked, what answers it, and what is counted.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { PaidResource } from "./resource.ts";

export type PaidRequest = {
  readonly resource: PaidResource;
  /** The PAYMENT-SIGNATURE header; undefined where there is none. */
  readonly signature: string | undefined;
};

/** Makes the answer. It must end when the signal aborts: by then the payment is about to expire. */
export type PaidHandler = (signal: AbortSignal) => Promise<EndpointResponse>;

/** What became of a request, for whoever counts. */
export type PaymentOutcome =
  | "challenged"
  | "refused"
  | "conflict"
  | "limited"
  | "failed"
  | "trouble"
  | "pending"
  | "settled"
  | "replayed";
