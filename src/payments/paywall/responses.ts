// The responses of the gate; each is counted by its outcome.
import { FAULTS, type FaultCode } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { deliverResponse, type LedgerRow, type StoredResponse } from "../ledger/row.ts";
import type { SettleResult } from "../settlement/settle.ts";
import type { GateLimits } from "./limits.ts";
import type { ChannelCorrection, PaidResource, PaymentOutcome } from "./offer.ts";
import { type PaymentOffer, paymentRequiredResponse } from "./offer.ts";
import type { ProtocolRules } from "./payment-scheme.ts";
import { receiptExtensions, withoutNote } from "./receipts.ts";

const JITTER_SECONDS = 3;
// Nothing counts that was an hour ago.
const CHANNEL_WAIT_SECONDS = 3_600;
// The oldest of an hour may be over soon.
const SIGN_IN_WAIT_SECONDS = 300;

/** An error response with headers of its own: when to retry, and that no cache may store it. */
export function toErrorResponse(
  code: FaultCode,
  message: string,
  retryAfterSeconds?: number,
): EndpointResponse {
  return {
    status: FAULTS[code].status,
    headers: {
      "x-error-code": code,
      "cache-control": "no-store",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: { error: message },
  };
}

/** For a request that takes too long. A payer must resend the same signature: a new one could pay twice. */
export const PAYMENT_IN_PROGRESS = toErrorResponse(
  "PAYMENT_PENDING",
  "The payment is being processed; send the same signature again to get the response.",
  2,
);

export type PaymentResponses = ReturnType<typeof createPaymentResponses>;

export function createPaymentResponses(
  options: {
    readonly offer: PaymentOffer;
    readonly limits: GateLimits;
    readonly log: Log;
    readonly count: (outcome: PaymentOutcome) => void;
    readonly receiptFor?: ProtocolRules["receiptFor"] | undefined;
  },
  resource: PaidResource,
) {
  const { offer, limits, log, count, receiptFor } = options;
  const { retryAfterSeconds } = limits;
  const paymentRequired = (message: string, correction: ChannelCorrection | null = null) => {
    count("refused");
    return paymentRequiredResponse(offer, resource, message, correction);
  };
  const conflict = (message: string) => {
    count("conflict");
    return toErrorResponse("PAYMENT_CONFLICT", message);
  };
  const pending = (message: string) => {
    count("pending");
    return toErrorResponse("PAYMENT_PENDING", message, retryAfterSeconds);
  };
  const deliver = (row: LedgerRow, stored: StoredResponse, transaction: string) => {
    const extensions = receiptExtensions(offer, resource, stored, { ...row, transaction });
    const response = deliverResponse(row, withoutNote(stored), transaction, extensions);
    return { ...response, headers: { ...response.headers, ...receiptFor?.(transaction) } };
  };
  return {
    paymentRequired,
    conflict,
    pending,
    takenOver: () => pending("Another process took the request over; send the same signature again."),
    /** More requests of one payment, or of all payments, wait than are allowed. */
    tooManyWaiting: () =>
      pending(
        "Too many requests wait for this payment; it is charged once at most. Send the same signature again.",
      ),
    ...createLimitResponses(limits, count),
    facilitatorUnavailable(err: unknown) {
      log.warn(
        { component: "payments", event: "payment_unverifiable", err },
        "Payment verification unavailable",
      );
      count("trouble");
      const message =
        "Payments cannot be verified at the moment; nothing was charged. Send the same signature again.";
      return toErrorResponse("FACILITATOR_UNAVAILABLE", message, retryAfterSeconds);
    },
    unsettled(result: Exclude<SettleResult, { kind: "settled" }>) {
      if (result.kind === "rejected") return paymentRequired(result.message);
      return pending(result.message ?? "The payment is in progress; send the same signature again.");
    },
    settled(row: LedgerRow, stored: StoredResponse, transaction: string) {
      count("settled");
      return deliver(row, stored, transaction);
    },
    /** The stored response of a payment that was settled before; null if it was pruned. */
    replayed(row: LedgerRow, stored: StoredResponse | null, transaction: string) {
      if (stored === null) return conflict("The payment was used, and its response is no longer stored.");
      count("replayed");
      return deliver(row, stored, transaction);
    },
  };
}

/** A limit of the payer or of the client is reached: the same signature works later. */
function createLimitResponses(limits: GateLimits, count: (outcome: PaymentOutcome) => void) {
  const limited = (message: string, afterSeconds: number) => {
    count("limited");
    return toErrorResponse("RATE_LIMITED", message, afterSeconds);
  };
  return {
    tooManyFailures: () =>
      limited(
        "Too many requests of this payer have failed; send the same signature again later.",
        Math.ceil(limits.failureWindowMs / 1_000),
      ),
    /** With jitter: processes that reject each other's payments of one payer must not meet again. */
    tooManyActive: (atOnce: number) =>
      limited(
        `The payer may have ${atOnce} payment${atOnce === 1 ? "" : "s"} in progress: one more than it has settled since its last unpaid one, ${limits.activePerPayerMax} at most; send the same signature again once another request has its response.`,
        limits.retryAfterSeconds + Math.floor(JITTER_SECONDS * Math.random()),
      ),
    balanceTooLow: (amount: bigint) =>
      limited(
        `The payer's balance does not cover this payment of ${amount} units and its others in progress; add money, or wait for them, and send the same signature again.`,
        limits.retryAfterSeconds,
      ),
    tooManyChannels: (of: "payer" | "all") =>
      limited(
        `${of === "payer" ? "The payer has" : "There are"} too many channels here; use an open one, or pay by transfer.`,
        CHANNEL_WAIT_SECONDS,
      ),
    tooMuchSponsored: () =>
      limited(
        "Too many deposits and refunds were made at our cost for what was bought; pay by transfer, or send the transaction yourself.",
        CHANNEL_WAIT_SECONDS,
      ),
    tooManySignIns: () =>
      limited(
        "Too many sign-ins of this account within an hour; send the payments themselves again, or wait.",
        SIGN_IN_WAIT_SECONDS,
      ),
    tooManyUnpaid: (waitMs: number) =>
      limited(
        "Too many requests of this client were not paid for; wait, and send the same signature again. A payer whose key has paid before is not limited by others.",
        Math.max(1, Math.ceil(waitMs / 1_000)),
      ),
  };
}
