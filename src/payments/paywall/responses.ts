// What a request with a payment may be sent, each counted by its outcome.
import { FAULTS, type FaultCode } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import type { LedgerRow } from "../ledger/row.ts";
import { deliverResponse } from "../ledger/stored-response.ts";
import type { SettleResult } from "../settlement/settle.ts";
import type { GateLimits } from "./limits.ts";
import { type PaymentOffer, paymentRequiredResponse } from "./offer.ts";
import type { PaidResource, PaymentOutcome } from "./paid-request.ts";

// A fault as an answer, for those that must carry a header: when to come back.

export function toErrorResponse(
  code: FaultCode,
  sentence: string,
  retryAfterSeconds?: number,
): EndpointResponse {
  return {
    status: FAULTS[code].status,
    headers: {
      "x-error-code": code,
      "cache-control": "no-store",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: { error: sentence },
  };
}

export type PaymentResponses = {
  paymentRequired(sentence: string): EndpointResponse;
  conflict(sentence: string): EndpointResponse;
  pending(sentence: string): EndpointResponse;
  /** More requests of one payment, or of all payments, wait than are allowed. */
  tooManyWaiting(): EndpointResponse;
  tooManyFailures(): EndpointResponse;
  /** What the payer of a row gets for what became of it. */
  forSettleResult(
    row: LedgerRow,
    result: SettleResult,
    outcome: "settled" | "replayed",
  ): Promise<EndpointResponse>;
};

export function createPaymentResponses(
  options: {
    readonly offer: PaymentOffer;
    readonly ledger: Pick<PaymentLedger, "readStoredResponse">;
    readonly limits: GateLimits;
    readonly count: (outcome: PaymentOutcome) => void;
  },
  resource: PaidResource,
): PaymentResponses {
  const { offer, ledger, limits, count } = options;
  const refused = (sentence: string) => {
    count("refused");
    return paymentRequiredResponse(offer, resource, sentence);
  };
  const conflict = (sentence: string) => {
    count("conflict");
    return toErrorResponse("PAYMENT_CONFLICT", sentence);
  };
  const pending = (sentence: string) => {
    count("pending");
    return toErrorResponse("PAYMENT_PENDING", sentence, limits.retryAfterSeconds);
  };
  return {
    paymentRequired: refused,
    conflict,
    pending,
    tooManyWaiting: () =>
      pending(
        "Too many requests wait for this payment; it is charged once at most. Send the same signature again.",
      ),
    tooManyFailures() {
      count("limited");
      const sentence = "Too many requests of this payer have failed; send the same signature again later.";
      return toErrorResponse("RATE_LIMITED", sentence, Math.ceil(limits.failureWindowMs / 1_000));
    },
    async forSettleResult(row, result, outcome) {
      if (result.kind === "refused") return refused(result.sentence);
      if (result.kind === "unknown") {
        return pending(result.sentence ?? "The payment is under way; send the same signature again.");
      }
      const answer = await ledger.readStoredResponse(row);
      if (answer === null) return conflict("The payment has been used, and its answer is no longer kept.");
      count(outcome);
      return deliverResponse(row, answer, result.transaction);
    },
  };
}
