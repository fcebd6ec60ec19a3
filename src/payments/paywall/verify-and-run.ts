// For whoever owns a reservation: the payment is verified, the work is done, and its answer is kept before any charge.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Clock } from "../../lib/clock.ts";
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { DeadlineExceededError, withDeadline } from "../../lib/deadline.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import {
  type PaymentFacilitator,
  rejectionMessage,
  requestVerify,
  type VerifyOutcome,
} from "../facilitator/facilitator.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import type { PaymentKey } from "../ledger/row.ts";
import { toStoredResponse } from "../ledger/stored-response.ts";
import type { GateLimits } from "./limits.ts";
import type { PaidHandler, PaymentOutcome } from "./paid-request.ts";
import type { Payment } from "./payment.ts";
import { toErrorResponse } from "./responses.ts";

export type VerifyAndRunOptions = {
  readonly ledger: PaymentLedger;
  readonly facilitator: PaymentFacilitator;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
  readonly count: (outcome: PaymentOutcome) => void;
};

export type PaidJob = {
  readonly key: PaymentKey;
  readonly owner: string;
  readonly payment: Payment;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
};

/** An answer that is not charged for, a payment that is refused, or the work of somebody who may now be charged. */
export type JobResult =
  | { readonly answer: EndpointResponse }
  | { readonly refused: string }
  | { readonly kept: true };

export type VerifyAndRun = {
  (order: PaidJob, work: PaidHandler): Promise<JobResult>;
  respondUnavailable(cause: unknown): EndpointResponse;
};

/** A facilitator that does not respond in time could not say. */
export function verifyWithDeadline(
  { facilitator, clock, limits }: Pick<VerifyAndRunOptions, "facilitator" | "clock" | "limits">,
  { payload, terms }: Pick<PaidJob, "payload" | "terms">,
): Promise<VerifyOutcome> {
  return withDeadline({ clock, ms: limits.verifyMs, what: "A verification" }, () =>
    requestVerify(facilitator, payload, terms),
  ).catch((cause) => ({ kind: "trouble", cause }));
}

export function createVerifyAndRun(options: VerifyAndRunOptions): VerifyAndRun {
  const { ledger, clock, log, limits, count } = options;

  // One payment of a payer at a time: those that are verified at the same moment would all count one another, and none
  // of them would go on. A process has no more requests that act than these places.
  const admitting = createFairLimit({
    runningMax: limits.activeRequestsMax,
    runningPerKeyMax: 1,
    waitingMax: limits.activeRequestsMax,
    waitingPerKeyMax: limits.activeRequestsMax,
  });

  const unavailable = (err: unknown) => {
    log.warn({ err }, "A payment could not be verified");
    count("trouble");
    const sentence =
      "Payments can not be checked at the moment; nothing was charged. Send the same signature again.";
    return toErrorResponse("FACILITATOR_UNAVAILABLE", sentence, limits.retryAfterSeconds);
  };

  const takenOver = () => {
    count("pending");
    const sentence = "The request was taken over by another process; send the same signature again.";
    return toErrorResponse("PAYMENT_PENDING", sentence, limits.retryAfterSeconds);
  };

  async function worked({ payment }: PaidJob, work: PaidHandler): Promise<EndpointResponse> {
    const leftMs = Number(payment.validBefore) * 1_000 - clock.nowMs() - limits.settleMarginMs;
    const ms = Math.max(0, Math.min(limits.handlerMs, leftMs));
    try {
      return await withDeadline({ clock, ms, what: "The paid work" }, work);
    } catch (cause) {
      if (!(cause instanceof DeadlineExceededError)) throw cause;
      throw new Fault("TIMED_OUT", "The answer took too long, and nothing was charged; try again.", {
        cause,
      });
    }
  }

  /** Marks a payment as verified and lets it go on, or returns why it does not. */
  async function admit({ key, owner }: PaidJob): Promise<EndpointResponse | null> {
    if (!(await ledger.markVerified(key, owner))) return takenOver();
    // Counted with our own row in place: whatever other processes admit at the same moment, they see one another.
    if ((await ledger.countActive(key.payer)) <= limits.activePerPayerMax) return null;
    await ledger.deleteReservation(key, owner);
    count("limited");
    return toErrorResponse("RATE_LIMITED", "Too many requests of this payer are being worked on.", 1);
  }

  async function make(order: PaidJob, work: PaidHandler): Promise<JobResult> {
    const { key, owner } = order;
    const verdict = await verifyWithDeadline(options, order);
    if (verdict.kind !== "valid") {
      const wasOurs = await ledger.deleteReservation(key, owner);
      if (verdict.kind === "trouble") return { answer: unavailable(verdict.cause) };
      // The process that took it over may have charged it, which may even be why it is invalid now.
      if (!wasOurs) return { answer: takenOver() };
      return { refused: rejectionMessage(verdict.reason) };
    }
    const turnedAway = await admitting.run(key.payer, () => admit(order));
    if (turnedAway !== null) return { answer: turnedAway };
    let answer: EndpointResponse;
    let kept: ReturnType<typeof toStoredResponse> | null = null;
    try {
      answer = await worked(order, work);
      if (answer.status < 400) kept = toStoredResponse(answer);
    } catch (failure) {
      count("failed");
      await ledger.recordJobFailure(key, owner);
      throw failure;
    }
    if (kept === null) {
      count("failed");
      await ledger.recordJobFailure(key, owner);
      return { answer };
    }
    if (await ledger.storeResponse(key, owner, kept)) return { kept: true };
    return { answer: takenOver() };
  }

  return Object.assign(make, { respondUnavailable: unavailable });
}
