// Steps of the payment flow: admission, those of an owner (verify, trace, run, store, settle, deliver), and of a second authorization.
import { DeadlineExceededError, withDeadline } from "../../lib/clock.ts";
import { FAULTS, Fault } from "../../lib/fault.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { requestVerify, type VerifyOutcome } from "../facilitator/facilitator.ts";
import { findSignatureRejection } from "../facilitator/payer-checks.ts";
import type { OpenPayment } from "../ledger/ledger.ts";
import {
  deliverResponse,
  type LedgerRow,
  type PaymentState,
  receiptHeaders,
  type StoredResponse,
  toStoredResponse,
} from "../ledger/row.ts";
import { NONCE_USED, rejectionMessage, WRONG_SIGNATURE } from "../rejection-reasons.ts";
import type { TransferFound } from "../settlement/lookup.ts";
import { confirmReportedTransfer, readChain, resumeSettlement, sendTransfer } from "../settlement/settle.ts";
import { type TracedTransfer, traceTransfer } from "../settlement/trace.ts";
import { wasSent } from "./flow-open.ts";
import { done, type Flow, type Next, type StateOf } from "./flow-states.ts";
import type { GateLimits } from "./limits.ts";
import type { PaymentOffer } from "./offer.ts";
import { type Payment, parsePayment } from "./payment.ts";
import { noteResponse } from "./receipts.ts";
import { REJECTION_UNITS, RUN_UNITS } from "./unpaid-work.ts";

/** A facilitator that does not respond in time is unavailable. */
function verifyWithDeadline({ services, payload, terms }: Flow): Promise<VerifyOutcome> {
  const { facilitator, clock, limits } = services;
  return withDeadline({ clock, ms: limits.verifyMs, what: "A verification" }, () =>
    requestVerify(facilitator, payload, terms),
  ).catch((cause) => ({ kind: "unavailable", cause }));
}

export async function verifyPayment(flow: Flow): Promise<Next<"verifying">> {
  const limited = (await findCheckLimit(flow)) ?? findKnownRejection(flow);
  if (limited !== null) return giveBack(flow, limited);
  const verdict = await verifyWithDeadline(flow);
  if (verdict.kind === "valid") return { at: "admitting", transfer: null };
  if (verdict.kind === "rejected") {
    const { reason } = verdict;
    return { at: "tracing", rejection: { reason, message: rejectionMessage(reason) } };
  }
  return giveBack(flow, flow.respond.facilitatorUnavailable(verdict.cause));
}

/** For a payment of which the chain has shown another use, without reading it again. */
function findKnownRejection({ services, payment, unpaid, respond }: Flow): EndpointResponse | null {
  if (!services.spentPayments.has(payment.digest)) return null;
  unpaid.spend(REJECTION_UNITS);
  return respond.paymentRequired(rejectionMessage(NONCE_USED));
}

/**
 * Nothing was charged and nothing ran: the same signature may be sent again. A row that an earlier request left behind
 * stays: if the money has arrived, its identifier and its request still protect it.
 */
async function giveBack(flow: Flow, response: EndpointResponse): Promise<StateOf<"done">> {
  await leaveUncharged(flow);
  return done(response);
}

async function leaveUncharged({ services: { ledger }, key, owner, firstSeen: { row } }: Flow): Promise<void> {
  const wasLeft = row !== null && row.state === "reserved" && !row.isLeased;
  await (wasLeft ? ledger.releaseLease(key, owner) : ledger.deleteReservation(key, owner));
}

/** Before a payment is rejected, the chain must show that its money has not arrived (table in docs/payments.md). */
export async function tracePayment(flow: Flow, { rejection }: StateOf<"tracing">): Promise<Next<"tracing">> {
  const { services, key, owner, respond, payment, payload, terms, unpaid, firstSeen } = flow;
  const limited = (await findCheckLimit(flow)) ?? findKnownRejection(flow);
  if (limited !== null) return giveBack(flow, limited);
  const createdSeconds = firstSeen.row?.createdSeconds ?? Math.floor(services.clock.nowMs() / 1_000);
  const traced = await traceTransfer(services, { key, payment, payload, terms, createdSeconds }, rejection);
  if (traced.kind === "transferred") return { at: "admitting", transfer: traced };
  unpaid.spend(unitsOf(traced));
  if (traced.kind === "unchecked") {
    // No new row stays of a payment that its payer may not have signed.
    return giveBack(flow, respond.pending(traced.message));
  }
  if (traced.kind === "unclear") {
    // A new row stays as well.
    await services.ledger.releaseLease(key, owner);
    return done(respond.pending(traced.message));
  }
  if (traced.used !== undefined) services.spentPayments.remember(payment.digest, traced.used.final);
  // The process that took it over may have charged it, which may even be why it is invalid now.
  if (!(await services.ledger.deleteReservation(key, owner))) return done(respond.takenOver());
  return done(respond.paymentRequired(traced.message));
}

/** The logs of a day cost as many calls as some work does. */
function unitsOf(traced: Exclude<TracedTransfer, TransferFound>): typeof REJECTION_UNITS | typeof RUN_UNITS {
  if (traced.kind === "unchecked") return REJECTION_UNITS;
  const wasSearched = traced.kind === "rejected" ? traced.used !== undefined : traced.wasSearched;
  return wasSearched ? RUN_UNITS : REJECTION_UNITS;
}

export function admitPayment(flow: Flow, state: StateOf<"admitting">): Promise<Next<"admitting">> {
  return flow.services.payerAdmission.run(flow.key.payer, () => admitInTurn(flow, state));
}

/** Marks the payment as verified, and lets it go on within the limits of its payer and its client. */
async function admitInTurn(flow: Flow, { transfer }: StateOf<"admitting">): Promise<Next<"admitting">> {
  const { services, key, owner, respond } = flow;
  const admitted = await services.ledger.admit(key, owner, transfer, services.limits.activePerPayerMax);
  if (!admitted.isMarked) return done(respond.takenOver());
  // A payment that someone else carried out is paid.
  const limited = transfer === null ? await findAdmissionLimit(flow, admitted) : null;
  return limited === null ? { at: "running", transfer } : giveBack(flow, limited);
}

/** Runs the handler. Nothing is charged for a failure, which counts against the payer. */
export async function runHandler(flow: Flow, { transfer }: StateOf<"running">): Promise<Next<"running">> {
  const { services, key, owner, unpaid, payment } = flow;
  const recordFailure = async (error?: unknown) => {
    services.count("failed");
    if (!isOutage(error)) unpaid.spendTaken();
    await services.ledger.recordJobFailure(key, owner);
  };
  let response: EndpointResponse;
  let stored: StoredResponse | null = null;
  try {
    response = await handleWithDeadline(flow, transfer);
    if (response.status < 400) stored = noteResponse(flow.offer, response, toStoredResponse(response));
  } catch (error) {
    if (transfer === null && isOverload(error)) {
      await leaveUncharged(flow);
      throw asUncharged(error);
    }
    await recordFailure(error);
    if (transfer === null || !(error instanceof Fault)) throw error;
    const headers = {
      ...error.headers,
      ...receiptHeaders({ ...key, amount: payment.value }, transfer.transaction),
    };
    throw new Fault(error.code, error.message, { cause: error, headers });
  }
  if (stored !== null) return { at: "storing", response: stored, transfer };
  await recordFailure();
  if (transfer === null) return done(response);
  // It is paid for: without the receipt it looks like a request that was rejected before it was charged.
  return done(deliverResponse({ ...key, amount: payment.value }, response, transfer.transaction));
}

/** Too much other work was in the way: nothing was done for the request. */
export function isOverload(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "OVERLOADED";
}

/** A payer must resend the same signature: a new one could pay twice. */
export function asUncharged(overload: Fault): Fault {
  const { retryAfterSeconds } = overload;
  const [what = ""] = overload.message.split(/;|\.$/, 1);
  const when = retryAfterSeconds === null ? "in a moment" : `in ${retryAfterSeconds} seconds`;
  const message = `${what}, and nothing was charged; send the same signature again ${when}.`;
  return new Fault("OVERLOADED", message, {
    cause: overload,
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
  });
}

/** Our own trouble before any work, which no client can cause: what a new payer's client has taken is given back. */
export function isOutage(error: unknown): boolean {
  return error instanceof Fault && FAULTS[error.code].status === 503 && error.code !== "TIMED_OUT";
}

/** The handler must end while there is still time to settle before the authorization expires, or is settled already. */
async function handleWithDeadline(
  { services, payment, handler }: Flow,
  transfer: TransferFound | null,
): Promise<EndpointResponse> {
  const { clock, limits } = services;
  const leftMs = Number(payment.validBefore) * 1_000 - clock.nowMs() - limits.settleMarginMs;
  const ms = transfer === null ? Math.max(0, Math.min(limits.handlerMs, leftMs)) : limits.handlerMs;
  try {
    return await withDeadline({ clock, ms, what: "The paid handler" }, handler);
  } catch (cause) {
    if (!(cause instanceof DeadlineExceededError)) throw cause;
    const advice = transfer === null ? "and nothing was charged; try again" : "send the same signature again";
    throw new Fault("TIMED_OUT", `The response took too long, ${advice}.`, { cause });
  }
}

/** The response is durable before the facilitator may move money. */
export async function storeResponse(
  { services, key, owner, respond }: Flow,
  { response, transfer }: StateOf<"storing">,
): Promise<Next<"storing">> {
  const row = await services.ledger.storeResponse(key, owner, response);
  return row === null ? done(respond.takenOver()) : { at: "settling", row, response, transfer };
}

/**
 * Delivers from memory: no transition leads from a stored response back to a state in which another one is stored, so
 * the ledger holds the same bytes even if another process finished the settlement.
 */
export async function settlePayment(
  { services, owner, respond, unpaid }: Flow,
  { row, response, transfer }: StateOf<"settling">,
): Promise<Next<"settling">> {
  // Read again, because a reorg may have removed it while the handler ran.
  const owned = { ...services, row, owner };
  const result = await (transfer === null
    ? sendTransfer(owned)
    : confirmReportedTransfer(owned, transfer.transaction));
  if (result.kind === "settled") return done(respond.settled(row, response, result.transaction));
  unpaid.spend(RUN_UNITS);
  return done(respond.unsettled(result));
}

/** Finishes a settlement whose outcome is unknown or that was rejected. */
export async function resumePayment(flow: Flow, { row }: StateOf<"resuming">): Promise<Next<"resuming">> {
  const { services, owner, respond, unpaid } = flow;
  // Each attempt reads the chain and may call the facilitator, however often the same signature is sent.
  const limited = await findCheckLimit(flow);
  if (limited !== null) {
    await services.ledger.releaseLease(row, owner);
    return done(limited);
  }
  const result = await resumeSettlement({ ...services, row, owner });
  if (result.kind !== "settled") {
    unpaid.spend(REJECTION_UNITS);
    return done(respond.unsettled(result));
  }
  return { at: "replaying", row, transaction: result.transaction };
}

export async function replayResponse(
  { services, respond }: Flow,
  { row, transaction }: StateOf<"replaying">,
): Promise<Next<"replaying">> {
  return done(respond.replayed(row, await services.ledger.readStoredResponse(row), transaction));
}

// A new authorization whose identifier belongs to another one, the holder: both together are charged once.

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
  if (holder.isLeased || !FINISHABLE.has(holder.state)) return { at: "waiting", row: holder };
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
  const { respond, unpaid } = flow;
  const limited = await findCheckLimit(flow);
  if (limited !== null) return done(limited);
  const verdict = await verifyWithDeadline(flow);
  if (verdict.kind === "unavailable") return done(respond.facilitatorUnavailable(verdict.cause));
  if (verdict.kind === "rejected") {
    unpaid.spend(REJECTION_UNITS);
    if (verdict.reason === WRONG_SIGNATURE) {
      return done(respond.paymentRequired(rejectionMessage(verdict.reason)));
    }
    // No 402 if money may have moved: the holder's own transfer can be why the balance is too low for this one.
    const message = "Another signature used the payment identifier; send that one again to get its response.";
    return done(respond.conflict(message));
  }
  if (isPaid(holder)) return { at: "replaying", row: holder, transaction: holder.transaction };
  return { at: "finishingHolder", holder };
}

/**
 * Finishes the holder's transfer if it can be: it may have happened, and anyone who has its signature may still carry
 * it out. Only when no money can move with it, another authorization is charged in its place. A holder that we never
 * sent is charged only if someone else has carried it out.
 */
export async function finishHolder(
  flow: Flow,
  { holder }: StateOf<"finishingHolder">,
): Promise<Next<"finishingHolder">> {
  const { services, owner, respond, unpaid } = flow;
  const { ledger } = services;
  if (!wasSent(holder)) {
    const payment = paymentIn(holder, flow.offer);
    const traced = await traceTransfer(services, { ...holder, key: holder, payment }, REPLACED);
    if (traced.kind === "transferred") return { at: "opening", holder };
    if (traced.kind !== "rejected") {
      unpaid.spend(unitsOf(traced));
      return done(respond.pending(traced.message));
    }
    await ledger.markReplaced(holder, owner);
    return { at: "waiting", row: holder };
  }
  const acquired = await ledger.acquire(holder, owner, holder.state, "settling");
  if (acquired === null) return { at: "waiting", row: holder };
  const result = await resumeSettlement({ ...services, row: acquired, owner });
  if (result.kind === "settled") return { at: "replaying", row: acquired, transaction: result.transaction };
  if (result.kind === "unknown") {
    unpaid.spend(REJECTION_UNITS);
    return done(respond.unsettled(result));
  }
  await ledger.markReplaced(holder, owner);
  return { at: "waiting", row: holder };
}

const FINISHABLE: ReadonlySet<PaymentState> = new Set(["reserved", "released", "settling", "refused"]);
const REPLACED = { reason: null, message: "Another authorization takes its place." };

/** The authorization in a row of the same network and token. */
export function paymentIn(row: LedgerRow, offer: PaymentOffer): Payment {
  const payment = parsePayment(row.payload, offer, "A stored payment");
  if ("unsupported" in payment) throw new Error(`a stored payment is not supported: ${payment.unsupported}`);
  return { ...payment, paymentId: row.paymentId, digest: row.digest };
}

type PaidRow = StateOf<"joining">["holder"] & {
  readonly transaction: StateOf<"replaying">["transaction"];
};

function isPaid(holder: StateOf<"joining">["holder"]): holder is PaidRow {
  return holder.state === "settled" && holder.transaction !== null;
}

/** Before a payment is verified or looked up. Null if its client, or its payer, may cost us another rejection. */
async function findCheckLimit(flow: Flow): Promise<EndpointResponse | null> {
  const { services, key, payload, terms, unpaid, respond } = flow;
  if (unpaid.hasAny) return null;
  const waitMs = unpaid.takeRejection();
  if (waitMs === 0) return null;
  // Behind an address that many share. The signature is checked without a node: anyone can name a payer.
  const isSigned = (await findSignatureRejection(payload, terms)) === null;
  if (!isSigned) return respond.tooManyUnpaid(waitMs);
  // Rejected payments do not use up what first purchases need. A payment that is worth nothing costs a run.
  const earlyMs = (await services.ledger.hasPaid(key)) ? unpaid.takeForPayer(key.payer) : unpaid.takeRun();
  return earlyMs === 0 ? null : respond.tooManyUnpaid(earlyMs);
}

/** How many payments a payer may have in progress: at least half of all its work is paid for, whatever it does. */
function atOnceOf(settled: number, { activePerPayerMax }: GateLimits): number {
  return Math.min(1 + settled, activePerPayerMax);
}

/**
 * Why a payment that is marked as verified must wait; null if it may be worked for. A payer with one payment at a time
 * who has paid before costs no statement and no call: verification has shown that the balance covers the payment.
 */
async function findAdmissionLimit(
  flow: Flow,
  { settled, others }: { readonly settled: number; readonly others: number },
): Promise<EndpointResponse | null> {
  const { services, key, payment, unpaid, respond } = flow;
  if (settled > 0 && others === 0) return null;
  // The statement that marks does not see what other processes mark while it runs. With our own mark committed,
  // processes that admit at the same moment see one another.
  const open = await services.ledger.findOpenPayments(key);
  const atOnce = atOnceOf(settled, services.limits);
  if (open.length >= atOnce) return respond.tooManyActive(atOnce);
  if (settled === 0) {
    const waitMs = unpaid.takeRun();
    return waitMs === 0 ? null : respond.tooManyUnpaid(waitMs);
  }
  try {
    return (await coversAll(flow, open)) ? null : respond.balanceTooLow(payment.value);
  } catch (error) {
    return respond.facilitatorUnavailable(error);
  }
}

/** Whether the payer's balance covers this payment and all of its others that may still be charged. */
async function coversAll({ services, key, payment }: Flow, open: readonly OpenPayment[]): Promise<boolean> {
  const wanted = { asset: key.asset, from: key.payer };
  const needed = (others: readonly OpenPayment[]) =>
    others.reduce((sum, { amount }) => sum + amount, payment.value);
  return readChain(services, "Reading a balance", async (lookup, signal) => {
    if ((await lookup.readBalance(wanted, "latest", signal)) >= needed(open)) return true;
    // Some may be mined and not recorded yet: their money has left the balance as of the same block.
    const transfers = open.map(({ nonce, amount, validBefore }) => ({
      ...wanted,
      to: payment.to,
      value: amount,
      nonce,
      validBefore,
      sinceSeconds: 0,
    }));
    const { at, used } = await lookup.readAuthorizationStates(transfers, signal);
    const balance = await lookup.readBalance(wanted, at, signal);
    return balance >= needed(open.filter((_, each) => !used[each]));
  });
}
