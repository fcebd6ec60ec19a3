// Steps of the payment flow until the request owns its payment: find or reserve it, and decide by its row.
import { findSignatureRejection } from "../facilitator/payer-checks.ts";
import type { LedgerRow } from "../ledger/row.ts";
import { allowsNewSignature, NONCE_USED, rejectionMessage, retryableMessage } from "../rejection-reasons.ts";
import { PAYMENT_EXPIRED_MESSAGE } from "../settlement/settle.ts";
import type { Rejection } from "../settlement/trace.ts";
import { done, type Flow, type Next, type StateOf } from "./flow-states.ts";
import { findTermsViolation, isOverByClock, mayHaveArrived } from "./payment.ts";

const LOST_MESSAGE = "The payment was undone by the chain and cannot be repeated; sign a new one.";

/** Reserves the payment, or finds its row. The reservation is durable before the facilitator is involved. */
export async function openPayment(flow: Flow): Promise<Next<"opening">> {
  const { key, payment, fingerprint, payload, terms, owner, respond, firstSeen } = flow;
  const { ledger, limits } = flow.services;
  const violation = currentViolation(flow);
  const mayReserve = violation === null || (await isWorthTracing(flow));
  const opened = await ledger.open({ key, payment, fingerprint, payload, terms }, owner, {
    mayReserve,
    failuresMax: limits.failuresMax,
  });
  if (opened.kind === "reserved") return verifyOrTrace(violation);
  if (opened.kind === "found") {
    firstSeen.row ??= opened.row;
    return { at: "deciding", row: opened.row, payerFailures: opened.payerFailures };
  }
  if (!mayReserve) {
    const { reason, message } = violation;
    // Only a node knows whether a contract account has signed it, which is not worth a call: it is over in seconds.
    const isOver = reason === null || isOverByClock(payment, flow.services.clock.nowMs());
    return done(isOver ? respond.paymentRequired(message) : respond.pending(retryableMessage(reason)));
  }
  if (opened.payerFailures >= limits.failuresMax) return done(respond.tooManyFailures());
  if (opened.kind === "name-taken") {
    const message =
      "A voucher under the same payment identifier was just charged; send the same request again.";
    return done(respond.pending(message));
  }
  return joinOrWait(null, payment.paymentId);
}

/**
 * Whether a payment that is not on our terms gets a row, and is looked for on the chain: only if a key signed it,
 * which needs no node. A payment of a contract account is looked for only if it has a row, which it got when it was
 * on our terms.
 */
async function isWorthTracing({ services, payment, offer, payload, terms, problem }: Flow): Promise<boolean> {
  if (problem !== null) return false;
  if (!mayHaveArrived(payment, offer, services.clock.nowMs())) return false;
  return (await findSignatureRejection(payload, terms)) === null;
}

/** Reads no database and calls no facilitator. The order of the checks matters. */
export function decideByRow(flow: Flow, { row, payerFailures }: StateOf<"deciding">): Next<"deciding"> {
  const { payment, respond, fingerprint } = flow;
  if (row.digest !== payment.digest) {
    if (row.isVerified) return done(respond.conflict("Another payment with the same nonce exists."));
    // An unverified row may be forged. Its request deletes it soon; if that process died, we do.
    return row.isLeased ? { at: "waiting", row } : { at: "discarding", row };
  }
  if (row.fingerprint !== fingerprint) {
    return done(respond.conflict("The payment belongs to another request."));
  }
  // Once the transfer is mined, anyone can read the signature on the chain; the identifier stays between us.
  if (row.paymentId !== null && row.paymentId !== payment.paymentId) {
    return done(respond.conflict("The payment has an identifier and must be sent with it again."));
  }
  if (row.state === "settled") {
    if (row.transaction !== null) return { at: "replaying", row, transaction: row.transaction };
    // No version writes such a row, and it must not be worked for or charged again.
    return done(respond.pending("The payment is in progress; send the same signature again."));
  }
  if (row.state === "lost") return done(respond.paymentRequired(LOST_MESSAGE));
  // A final block used the nonce: reading the chain again would show the same.
  if (row.state === "refused" && row.reason === NONCE_USED) {
    return done(respond.paymentRequired(rejectionMessage(NONCE_USED)));
  }
  if (row.state === "expired") return done(respond.paymentRequired(PAYMENT_EXPIRED_MESSAGE));
  if (row.isLeased) return { at: "waiting", row };
  return shareOutcome(flow, row) ?? decideToReclaim(flow, row, payerFailures);
}

/** Requests that waited together share the outcome of one attempt: ten of them must not try ten times. */
function shareOutcome({ respond, firstSeen }: Flow, row: LedgerRow): StateOf<"done"> | null {
  const first = firstSeen.row ?? row;
  if (row.attempts <= first.attempts && row.failures <= first.failures) return null;
  if (row.state === "refused" && allowsNewSignature(row.reason)) {
    return done(respond.paymentRequired(rejectionMessage(NONCE_USED)));
  }
  const message = "The request did not succeed and may be sent again with the same signature.";
  return done(respond.pending(message));
}

/** For a row that no process acts on and that is neither paid nor over. */
function decideToReclaim(flow: Flow, row: LedgerRow, payerFailures: number): Next<"deciding"> {
  const hasFailedTooOften = payerFailures >= flow.services.limits.failuresMax;
  const { state } = row;
  if (state === "reserved" || state === "released") {
    const rejection = currentViolation(flow);
    if (rejection !== null) return { at: "reclaiming", row, rejection };
    if (hasFailedTooOften) return done(flow.respond.tooManyFailures());
  }
  // A payment that is settling may have moved money already, so its outcome is looked for in any case.
  if (state === "refused" && hasFailedTooOften) return done(flow.respond.tooManyFailures());
  return { at: "reclaiming", row, rejection: null };
}

/** The nonce belongs to a row that was never verified and whose process died. */
export async function discardUnverified(
  { services, key }: Flow,
  { row }: StateOf<"discarding">,
): Promise<Next<"discarding">> {
  await services.ledger.deleteUnverified(key);
  return { at: "waiting", row };
}

/** Takes the row also if the payment expires too soon, so that a stalled process cannot go on and charge it. */
export async function reclaimPayment(
  flow: Flow,
  { row, rejection }: StateOf<"reclaiming">,
): Promise<Next<"reclaiming">> {
  const { services, key, owner } = flow;
  const paymentId = identifierFor(flow, row);
  const to = wasSent(row) ? "settling" : "reserved";
  const reclaimed = await services.ledger.reclaim(key, owner, { from: row.state, to, paymentId });
  if (reclaimed === null) return joinOrWait(row, paymentId);
  return to === "settling" ? { at: "resuming", row: reclaimed } : verifyOrTrace(rejection);
}

/** A payment that we can no longer charge may have been carried out by someone else. */
function verifyOrTrace(rejection: Rejection | null): StateOf<"verifying"> | StateOf<"tracing"> {
  return rejection === null ? { at: "verifying" } : { at: "tracing", rejection };
}

/** 402 would make the client sign again while others can carry out the first signature; the chain decides when they cannot. */
function currentViolation({ services, offer, payment, problem }: Flow): Rejection | null {
  if (problem !== null) return { reason: null, message: problem };
  const { clock, limits } = services;
  return findTermsViolation(payment, offer, { nowMs: clock.nowMs(), settleMs: limits.settleMarginMs });
}

export function wasSent({ state }: LedgerRow): boolean {
  return state === "settling" || state === "refused";
}

/** A signature that was sent may be public, and a third party who reads it must not attach an identifier to it. */
function identifierFor({ payment }: Flow, row: LedgerRow): string | null {
  return row.paymentId ?? (wasSent(row) ? null : payment.paymentId);
}

/** For a request that could not become the owner: its identifier may belong to another authorization. */
function joinOrWait(
  row: LedgerRow | null,
  paymentId: string | null,
): StateOf<"findingHolder"> | StateOf<"waiting"> {
  return paymentId === null ? { at: "waiting", row } : { at: "findingHolder", row, paymentId };
}
