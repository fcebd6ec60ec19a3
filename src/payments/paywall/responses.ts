// What a request with a payment may be sent, each counted by its outcome.
import type { EndpointAnswer } from "../../schema/endpoint.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerRow } from "../ledger/row.ts";
import { delivered } from "../ledger/stored-response.ts";
import type { SettleResult } from "../settlement/settle.ts";
import { refusal } from "./error-response.ts";
import type { GateLimits } from "./limits.ts";
import { challenge, type Offer } from "./offer.ts";
import type { PaymentOutcome } from "./paid-request.ts";
import type { Resource } from "./resource.ts";

export type PaymentResponses = {
  refused(sentence: string): EndpointAnswer;
  conflict(sentence: string): EndpointAnswer;
  pending(sentence: string): EndpointAnswer;
  /** More requests of one payment, or of all payments, wait than are allowed. */
  crowded(): EndpointAnswer;
  tooManyFailures(): EndpointAnswer;
  /** What the payer of a row gets for what became of it. */
  answered(row: LedgerRow, result: SettleResult, outcome: "settled" | "replayed"): Promise<EndpointAnswer>;
};

export function paymentResponses(
  options: {
    readonly offer: Offer;
    readonly ledger: Pick<Ledger, "answerOf">;
    readonly limits: GateLimits;
    readonly count: (outcome: PaymentOutcome) => void;
  },
  resource: Resource,
): PaymentResponses {
  const { offer, ledger, limits, count } = options;
  const refused = (sentence: string) => {
    count("refused");
    return challenge(offer, resource, sentence);
  };
  const conflict = (sentence: string) => {
    count("conflict");
    return refusal("PAYMENT_CONFLICT", sentence);
  };
  const pending = (sentence: string) => {
    count("pending");
    return refusal("PAYMENT_PENDING", sentence, limits.retryAfterSeconds);
  };
  return {
    refused,
    conflict,
    pending,
    crowded: () =>
      pending(
        "Too many requests wait for this payment; it is charged once at most. Send the same signature again.",
      ),
    tooManyFailures() {
      count("limited");
      const sentence = "Too many requests of this payer have failed; send the same signature again later.";
      return refusal("RATE_LIMITED", sentence, Math.ceil(limits.failureWindowMs / 1_000));
    },
    async answered(row, result, outcome) {
      if (result.kind === "refused") return refused(result.sentence);
      if (result.kind === "unknown") {
        return pending(result.sentence ?? "The payment is under way; send the same signature again.");
      }
      const answer = await ledger.answerOf(row);
      if (answer === null) return conflict("The payment has been used, and its answer is no longer kept.");
      count(outcome);
      return delivered(row, answer, result.transaction);
    },
  };
}
