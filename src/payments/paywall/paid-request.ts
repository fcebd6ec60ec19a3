// The words of the gate: what is asked, what answers it, and what is counted.
import type { EndpointAnswer } from "../../schema/endpoint.ts";
import type { Resource } from "./resource.ts";

export type PaidRequest = {
  readonly resource: Resource;
  /** The PAYMENT-SIGNATURE header; undefined where there is none. */
  readonly signature: string | undefined;
};

/** Makes the answer. It must end when the signal aborts: by then the payment is about to expire. */
export type PaidWork = (signal: AbortSignal) => Promise<EndpointAnswer>;

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
