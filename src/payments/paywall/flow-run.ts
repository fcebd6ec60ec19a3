// Steps of the payment flow for the owner of a payment: verify, run the handler, store the response, settle, deliver.
import { DeadlineExceededError, withDeadline } from "../../lib/deadline.ts";
import { Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { requestVerify, type VerifyOutcome } from "../facilitator/facilitator.ts";
import { type StoredResponse, toStoredResponse } from "../ledger/stored-response.ts";
import { rejectionMessage } from "../rejection-reasons.ts";
import { resumeSettlement, sendTransfer } from "../settlement/settle.ts";
import { done, type Flow, type Next, type StateOf } from "./flow-states.ts";

/** A facilitator that does not respond in time is unavailable. */
export function verifyWithDeadline({ services, payload, terms }: Flow): Promise<VerifyOutcome> {
  const { facilitator, clock, limits } = services;
  return withDeadline({ clock, ms: limits.verifyMs, what: "A verification" }, () =>
    requestVerify(facilitator, payload, terms),
  ).catch((cause) => ({ kind: "unavailable", cause }));
}

export async function verifyPayment(flow: Flow): Promise<Next<"verifying">> {
  const { services, key, owner, respond } = flow;
  const verdict = await verifyWithDeadline(flow);
  if (verdict.kind === "valid") return { at: "admitting" };
  const wasOurs = await services.ledger.deleteReservation(key, owner);
  if (verdict.kind === "unavailable") return done(respond.facilitatorUnavailable(verdict.cause));
  // The process that took it over may have charged it, which may even be why it is invalid now.
  if (!wasOurs) return done(respond.takenOver());
  return done(respond.paymentRequired(rejectionMessage(verdict.reason)));
}

export function admitPayment(flow: Flow): Promise<Next<"admitting">> {
  return flow.services.payerAdmission.run(flow.key.payer, () => admitInTurn(flow));
}

/** Marks the payment as verified, and lets it go on if its payer has few enough others. */
async function admitInTurn({ services, key, owner, respond }: Flow): Promise<Next<"admitting">> {
  const { ledger, limits } = services;
  const { isMarked, others } = await ledger.admit(key, owner);
  if (!isMarked) return done(respond.takenOver());
  // The statement that marks does not see marks that other processes commit while it runs, of which there is one per
  // process at a time. Far from the limit they do not matter. Near it, count again: with our own mark committed,
  // processes that admit at the same moment see one another.
  if (others + 1 <= Math.floor(limits.activePerPayerMax / 2)) return { at: "running" };
  if ((await ledger.countActive(key.payer)) <= limits.activePerPayerMax) return { at: "running" };
  await ledger.deleteReservation(key, owner);
  return done(respond.tooManyActive());
}

/** Runs the handler. Nothing is charged for a failure, which counts against the payer. */
export async function runHandler(flow: Flow): Promise<Next<"running">> {
  const { services, key, owner } = flow;
  const recordFailure = async () => {
    services.count("failed");
    await services.ledger.recordJobFailure(key, owner);
  };
  let response: EndpointResponse;
  let stored: StoredResponse | null = null;
  try {
    response = await handleWithDeadline(flow);
    if (response.status < 400) stored = toStoredResponse(response);
  } catch (error) {
    await recordFailure();
    throw error;
  }
  if (stored !== null) return { at: "storing", response: stored };
  await recordFailure();
  return done(response);
}

/** The handler must end while there is still time to settle before the authorization expires. */
async function handleWithDeadline({ services, payment, handler }: Flow): Promise<EndpointResponse> {
  const { clock, limits } = services;
  const leftMs = Number(payment.validBefore) * 1_000 - clock.nowMs() - limits.settleMarginMs;
  const ms = Math.max(0, Math.min(limits.handlerMs, leftMs));
  try {
    return await withDeadline({ clock, ms, what: "The paid handler" }, handler);
  } catch (cause) {
    if (!(cause instanceof DeadlineExceededError)) throw cause;
    throw new Fault("TIMED_OUT", "The response took too long, and nothing was charged; try again.", {
      cause,
    });
  }
}

/** The response is durable before the facilitator may move money. */
export async function storeResponse(
  { services, key, owner, respond }: Flow,
  { response }: StateOf<"storing">,
): Promise<Next<"storing">> {
  const row = await services.ledger.storeResponse(key, owner, response);
  return row === null ? done(respond.takenOver()) : { at: "settling", row, response };
}

/**
 * Delivers from memory: no transition leads from a stored response back to a state in which another one is stored, so
 * the ledger holds the same bytes even if another process finished the settlement.
 */
export async function settlePayment(
  { services, owner, respond }: Flow,
  { row, response }: StateOf<"settling">,
): Promise<Next<"settling">> {
  const result = await sendTransfer(services, row, owner);
  if (result.kind !== "settled") return done(respond.unsettled(result));
  return done(respond.settled(row, response, result.transaction));
}

/** Finishes a settlement whose outcome is unknown or that was rejected. */
export async function resumePayment(
  { services, owner, respond }: Flow,
  { row }: StateOf<"resuming">,
): Promise<Next<"resuming">> {
  const result = await resumeSettlement(services, row, owner);
  if (result.kind !== "settled") return done(respond.unsettled(result));
  return { at: "replaying", row, transaction: result.transaction };
}

export async function replayResponse(
  { services, respond }: Flow,
  { row, transaction }: StateOf<"replaying">,
): Promise<Next<"replaying">> {
  return done(respond.replayed(row, await services.ledger.readStoredResponse(row), transaction));
}
