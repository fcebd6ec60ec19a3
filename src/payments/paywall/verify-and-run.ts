// For whoever owns a reservation: the payment is verified, the work is done, and its answer is kept before any charge.
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Clock } from "../../lib/clock.ts";
import { DeadlinePassed, withDeadline } from "../../lib/deadline.ts";
import { createFairLimit } from "../../lib/fair-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { EndpointAnswer } from "../../schema/endpoint.ts";
import {
  type Facilitator,
  refusalSentence,
  type Verdict,
  verifyPayment,
} from "../facilitator/facilitator.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PaymentKey } from "../ledger/row.ts";
import { keepable } from "../ledger/stored-response.ts";
import { refusal } from "./error-response.ts";
import type { GateLimits } from "./limits.ts";
import type { PaidWork, PaymentOutcome } from "./paid-request.ts";
import type { Payment } from "./payment.ts";

export type WorkshopOptions = {
  readonly ledger: Ledger;
  readonly facilitator: Facilitator;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
  readonly count: (outcome: PaymentOutcome) => void;
};

export type Order = {
  readonly key: PaymentKey;
  readonly owner: string;
  readonly payment: Payment;
  readonly payload: PaymentPayload;
  readonly terms: PaymentRequirements;
};

/** An answer that is not charged for, a payment that is refused, or the work of somebody who may now be charged. */
export type Made =
  | { readonly answer: EndpointAnswer }
  | { readonly refused: string }
  | { readonly kept: true };

export type Workshop = {
  (order: Order, work: PaidWork): Promise<Made>;
  unavailable(cause: unknown): EndpointAnswer;
};

/** A facilitator that does not respond in time could not say. */
export function verifyInTime(
  { facilitator, clock, limits }: Pick<WorkshopOptions, "facilitator" | "clock" | "limits">,
  { payload, terms }: Pick<Order, "payload" | "terms">,
): Promise<Verdict> {
  return withDeadline({ clock, ms: limits.verifyMs, what: "A verification" }, () =>
    verifyPayment(facilitator, payload, terms),
  ).catch((cause) => ({ kind: "trouble", cause }));
}

export function createWorkshop(options: WorkshopOptions): Workshop {
  const { ledger, clock, log, limits, count } = options;

  // One payment of a payer at a time: those that are verified at the same moment would all count one another, and none
  // of them would go on. A process has no more requests that act than these places.
  const admitting = createFairLimit({
    runningMax: limits.servingMax,
    runningPerKeyMax: 1,
    waitingMax: limits.servingMax,
    waitingPerKeyMax: limits.servingMax,
  });

  const unavailable = (err: unknown) => {
    log.warn({ err }, "A payment could not be verified");
    count("trouble");
    const sentence =
      "Payments can not be checked at the moment; nothing was charged. Send the same signature again.";
    return refusal("FACILITATOR_UNAVAILABLE", sentence, limits.retryAfterSeconds);
  };

  const takenOver = () => {
    count("pending");
    const sentence = "The request was taken over by another process; send the same signature again.";
    return refusal("PAYMENT_PENDING", sentence, limits.retryAfterSeconds);
  };

  async function worked({ payment }: Order, work: PaidWork): Promise<EndpointAnswer> {
    const leftMs = Number(payment.validBefore) * 1_000 - clock.nowMs() - limits.settleMarginMs;
    const ms = Math.max(0, Math.min(limits.handlerMs, leftMs));
    try {
      return await withDeadline({ clock, ms, what: "The paid work" }, work);
    } catch (cause) {
      if (!(cause instanceof DeadlinePassed)) throw cause;
      throw new Fault("TIMED_OUT", "The answer took too long, and nothing was charged; try again.", {
        cause,
      });
    }
  }

  /** Marks a payment as verified and lets it go on, or returns why it does not. */
  async function admit({ key, owner }: Order): Promise<EndpointAnswer | null> {
    if (!(await ledger.markVerified(key, owner))) return takenOver();
    // Counted with our own row in place: whatever other processes admit at the same moment, they see one another.
    if ((await ledger.busyOf(key.payer)) <= limits.busyMax) return null;
    await ledger.forget(key, owner);
    count("limited");
    return refusal("RATE_LIMITED", "Too many requests of this payer are being worked on.", 1);
  }

  async function make(order: Order, work: PaidWork): Promise<Made> {
    const { key, owner } = order;
    const verdict = await verifyInTime(options, order);
    if (verdict.kind !== "valid") {
      const wasOurs = await ledger.forget(key, owner);
      if (verdict.kind === "trouble") return { answer: unavailable(verdict.cause) };
      // The process that took it over may have charged it, which may even be why it is invalid now.
      if (!wasOurs) return { answer: takenOver() };
      return { refused: refusalSentence(verdict.reason) };
    }
    const turnedAway = await admitting.run(key.payer, () => admit(order));
    if (turnedAway !== null) return { answer: turnedAway };
    let answer: EndpointAnswer;
    let kept: ReturnType<typeof keepable> | null = null;
    try {
      answer = await worked(order, work);
      if (answer.status < 400) kept = keepable(answer);
    } catch (failure) {
      count("failed");
      await ledger.release(key, owner);
      throw failure;
    }
    if (kept === null) {
      count("failed");
      await ledger.release(key, owner);
      return { answer };
    }
    if (await ledger.keepAnswer(key, owner, kept)) return { kept: true };
    return { answer: takenOver() };
  }

  return Object.assign(make, { unavailable });
}
