// Steps of the payment flow for a new authorization whose identifier belongs to another one: it is charged once.
import { rejectionMessage, WRONG_SIGNATURE } from "../rejection-reasons.ts";
import { resumeSettlement } from "../settlement/settle.ts";
import { verifyWithDeadline } from "./flow-run.ts";
import { done, type Flow, type Next, type StateOf } from "./flow-states.ts";

export async function findHolder(
  { services, key, firstSeen }: Flow,
  { row, paymentId }: StateOf<"findingHolder">,
): Promise<Next<"findingHolder">> {
  const holder = await services.ledger.findHolder(key, paymentId);
  if (holder === null || holder.nonce === key.nonce) return { at: "waiting", row };
  firstSeen.holder ??= holder;
  return { at: "joining", holder };
}

/**
 * As long as the holder may be charged, the new authorization is not: it waits, gets the stored response, or finishes
 * the holder's own transfer. Reads no database and calls no facilitator.
 */
export function decideByHolder(flow: Flow, { holder }: StateOf<"joining">): Next<"joining"> {
  const { fingerprint, respond, firstSeen } = flow;
  // Until the holder is verified, anyone may have sent it in the payer's name.
  if (!holder.isVerified) return { at: "waiting", row: holder };
  if (holder.fingerprint !== fingerprint) {
    return done(respond.conflict("The payment identifier belongs to another request."));
  }
  if (isPaid(holder)) return { at: "verifyingPayer", holder };
  const canFinish = !holder.isLeased && (holder.state === "settling" || holder.state === "refused");
  if (!canFinish) return { at: "waiting", row: holder };
  // Requests that waited together share the outcome of one attempt.
  if (holder.attempts > (firstSeen.holder ?? holder).attempts) {
    const message = "The payment under this identifier is in progress; send the same request again.";
    return done(respond.pending(message));
  }
  return { at: "verifyingPayer", holder };
}

/** The identifier alone proves nothing: only its payer can sign another authorization. */
export async function verifySamePayer(
  flow: Flow,
  { holder }: StateOf<"verifyingPayer">,
): Promise<Next<"verifyingPayer">> {
  const { respond } = flow;
  const verdict = await verifyWithDeadline(flow);
  if (verdict.kind === "unavailable") return done(respond.facilitatorUnavailable(verdict.cause));
  if (verdict.kind === "rejected") {
    if (verdict.reason === WRONG_SIGNATURE) {
      return done(respond.paymentRequired(rejectionMessage(verdict.reason)));
    }
    // No 402 where money may have moved: the holder's own transfer can be why the balance is too low for this one.
    const message = "Another signature used the payment identifier; send that one again to get its response.";
    return done(respond.conflict(message));
  }
  if (isPaid(holder)) return { at: "replaying", row: holder, transaction: holder.transaction };
  return { at: "finishingHolder", holder };
}

/**
 * Finishes the holder's transfer if it can be: it may have happened, and anyone who has its signature may still carry
 * it out. Only when no money can move with it, another authorization is charged in its place.
 */
export async function finishHolder(
  { services, owner, respond }: Flow,
  { holder }: StateOf<"finishingHolder">,
): Promise<Next<"finishingHolder">> {
  const { ledger } = services;
  const acquired = await ledger.acquire(holder, owner, holder.state, "settling");
  if (acquired === null) return { at: "waiting", row: holder };
  const result = await resumeSettlement(services, acquired, owner);
  if (result.kind === "settled") return { at: "replaying", row: acquired, transaction: result.transaction };
  if (result.kind === "unknown") return done(respond.unsettled(result));
  await ledger.markReplaced(holder, owner);
  return { at: "waiting", row: holder };
}

type PaidRow = StateOf<"joining">["holder"] & {
  readonly transaction: StateOf<"replaying">["transaction"];
};

function isPaid(holder: StateOf<"joining">["holder"]): holder is PaidRow {
  return holder.state === "settled" && holder.transaction !== null;
}
