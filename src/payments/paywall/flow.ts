// One purchase: find or reserve its row, then act on it, or wait for the request that does.
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { isNeverValid, NONCE_USED, rejectionMessage } from "../facilitator/facilitator.ts";
import { startLeaseRenewal } from "../ledger/lease.ts";
import type { ReclaimOptions } from "../ledger/ledger.ts";
import type { LedgerRow, PaymentKey } from "../ledger/row.ts";
import { allowsNewSignature, PAYMENT_EXPIRED_MESSAGE, type Settlement } from "../settlement/settle.ts";
import { resolveHolder, type WaitForRow } from "./identifier-holder.ts";
import { type PaymentOffer, paymentRequirementsFor } from "./offer.ts";
import type { PaidHandler } from "./paid-request.ts";
import { type PaidResource, resourceFingerprint } from "./paid-request.ts";
import { findTermsViolation, type Payment, toPaymentPayload } from "./payment.ts";
import { createPaymentResponses } from "./responses.ts";
import type { RowWaiters } from "./row-waiters.ts";
import { createVerifyAndRun, type VerifyAndRunOptions } from "./verify-and-run.ts";

export type PaymentFlowOptions = VerifyAndRunOptions & {
  readonly offer: PaymentOffer;
  readonly settlement: Settlement;
  /** Requests that act; those that wait are not among them. */
  readonly activeRequests: ConcurrencyLimit;
  readonly waiters: RowWaiters;
};

export type PaymentFlowInput = {
  readonly resource: PaidResource;
  readonly payment: Payment;
  readonly owner: string;
};

export type PaymentFlow = (wanted: PaymentFlowInput, work: PaidHandler) => Promise<EndpointResponse>;

/** `waitFor` is null where the row was just made by another request, and is there at the next look. */
type Step = EndpointResponse | WaitForRow | { readonly waitFor: null };

const LOST = "The payment was undone by the chain and can not be repeated; sign a new one.";

export function createPaymentFlow(options: PaymentFlowOptions): PaymentFlow {
  const { offer, ledger, settlement, clock, limits, activeRequests: working, waiters: room } = options;
  const workshop = createVerifyAndRun(options);
  const terms = paymentRequirementsFor(offer);

  return async (wanted, work) => {
    const { resource, payment, owner } = wanted;
    const key = { network: offer.network, asset: offer.asset, payer: payment.from, nonce: payment.nonce };
    const payload = toPaymentPayload(payment, terms);
    const print = resourceFingerprint(resource);
    const respond = createPaymentResponses(options, resource);
    let first: LedgerRow | null = null;
    let firstHolder: LedgerRow | null = null;

    /** Acts as the owner, for as long as it takes. */
    const held = async (act: () => Promise<EndpointResponse>) => {
      const lease = startLeaseRenewal(options, key, owner);
      try {
        return await act();
      } finally {
        await lease.stop();
      }
    };
    const hasFailedTooOften = async () => (await ledger.countFailures(payment.from)) >= limits.failuresMax;

    /** Takes a row away from a process that has stalled, so that it cannot go on and charge it. */
    const withdraw = async (row: LedgerRow) =>
      (await ledger.acquire(key, owner, row.state, "reserved")) && ledger.deleteReservation(key, owner);

    /** Verifies, works and settles, if `start` makes us the owner of the row; null if it does not. */
    const begin = async (
      row: LedgerRow | null,
      start: () => Promise<boolean>,
    ): Promise<EndpointResponse | null> => {
      const objection = findTermsViolation(payment, offer, {
        nowMs: clock.nowMs(),
        settleMs: limits.settleMarginMs,
      });
      if (objection !== null) {
        return row === null || (await withdraw(row)) ? respond.paymentRequired(objection) : null;
      }
      if (await hasFailedTooOften()) return respond.tooManyFailures();
      if (!(await start())) return null;
      return held(async () => {
        const made = await workshop({ key, owner, payment, payload, terms }, work);
        if ("answer" in made) return made.answer;
        if ("refused" in made) return respond.paymentRequired(made.refused);
        const kept = await ledger.find(key);
        if (kept === null)
          return respond.pending("The payment was taken over; send the same signature again.");
        return respond.forSettleResult(kept, await settlement.send(kept, owner), "settled");
      });
    };

    /** For a request that could not become the owner: its identifier may belong to another authorization. */
    const joinOrWait = async (row: LedgerRow | null, paymentId: string | null): Promise<Step> => {
      const holder = paymentId === null ? null : await ledger.findHolder(key, paymentId);
      if (holder === null || holder.nonce === key.nonce) return { waitFor: row };
      firstHolder ??= holder;
      const { respondUnavailable } = workshop;
      const same = {
        payment,
        fingerprint: print,
        terms,
        owner,
        respond,
        respondUnavailable,
        firstSeen: firstHolder,
      };
      return resolveHolder(options, same, holder);
    };

    /** Acts on a row that no request acts on. */
    const takeUp = async (row: LedgerRow): Promise<Step> => {
      const wasSent = row.state === "settling" || row.state === "refused";
      // A signature that was sent may be public, and a stranger who reads it must not give it a name.
      const paymentId = row.paymentId ?? (wasSent ? null : payment.paymentId);
      const change: ReclaimOptions = {
        from: row.state,
        to: wasSent ? "settling" : "reserved",
        paymentId,
        fingerprint: print,
      };
      const start = () => ledger.reclaim(key, owner, change);
      if (!wasSent) return (await begin(row, start)) ?? joinOrWait(row, paymentId);
      if (row.state === "refused" && (await hasFailedTooOften())) return respond.tooManyFailures();
      if (!(await start())) return joinOrWait(row, paymentId);
      return held(async () => respond.forSettleResult(row, await settlement.resume(row, owner), "replayed"));
    };

    /** What can be done about the payment at this moment. */
    const step = async (): Promise<Step> => {
      const row = await ledger.find(key);
      if (row === null) {
        const reservation = { key, payment, fingerprint: print, payload, terms };
        const done = await begin(null, () => ledger.reserve(reservation, owner));
        return done ?? joinOrWait(null, payment.paymentId);
      }
      first ??= row;
      if (row.digest !== payment.digest) {
        // Not verified yet: a forged one is gone in a moment, or when the process that was to verify it has died.
        if (row.isVerified) return respond.conflict("Another payment with the same nonce has been taken.");
        if (!row.isLeased) await ledger.deleteUnverified(key);
        return { waitFor: row };
      }
      if (row.fingerprint !== print) return respond.conflict("The payment belongs to another request.");
      // Once it is carried out, everybody can read the signature on the chain; the identifier stays between us.
      if (row.paymentId !== null && row.paymentId !== payment.paymentId) {
        return respond.conflict("The payment was named by an identifier and must come with it again.");
      }
      if (row.state === "settled" && row.transaction !== null) {
        return respond.forSettleResult(row, { kind: "settled", transaction: row.transaction }, "replayed");
      }
      if (row.state === "lost") return respond.paymentRequired(LOST);
      if (row.state === "expired") return respond.paymentRequired(PAYMENT_EXPIRED_MESSAGE);
      if (row.isLeased) return { waitFor: row };
      // Requests that waited together share the outcome; ten of them must not try ten times.
      if (row.attempts > first.attempts || row.failures > first.failures) {
        if (row.state === "refused" && allowsNewSignature(row.reason)) {
          return respond.paymentRequired(
            rejectionMessage(isNeverValid(row.reason) ? String(row.reason) : NONCE_USED),
          );
        }
        return respond.pending("The request did not succeed and may be sent again with the same signature.");
      }
      return takeUp(row);
    };

    const leave = room.enter(key);
    if (leave === null) return respond.tooManyWaiting();
    const untilMs = clock.nowMs() + limits.waitMs;
    try {
      for (;;) {
        const done = await working.run(step);
        if (!("waitFor" in done)) return done;
        const outcome = await room.wait({ ...waitingFor(done.waitFor, key), untilMs });
        if (outcome === "full") return respond.tooManyWaiting();
        if (outcome === "late") {
          return respond.pending("The payment is being worked on; send the same signature again.");
        }
      }
    } finally {
      leave();
    }
  };
}

/** The row to poll, and when a request that saw it may act again. */
function waitingFor(seen: LedgerRow | null, key: PaymentKey) {
  if (seen === null) return { key, isReady: () => true };
  return {
    key: seen,
    isReady: (row: LedgerRow | null) =>
      row === null || !row.isLeased || row.state === "settled" || row.isVerified !== seen.isVerified,
  };
}
