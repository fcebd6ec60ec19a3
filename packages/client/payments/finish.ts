// Sends the signature of a payment until its outcome is known, and writes the outcome down.
import { SextantError } from "../errors.ts";
import { pauseBefore } from "../http/repeat.ts";
import { type HttpRequest, type HttpResponse, STREAM_TYPE } from "../http/transport.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import type { OutcomeRecord } from "../journal/records.ts";
import type { Paid } from "../operation.ts";
import { toExchange } from "./exchange.ts";
import type { PaidRequest, PurchaseContext } from "./standing.ts";
import { chargedSoFar, readVerdict, type Verdict } from "./verdict.ts";

/** Sent along with a signature, and not a part of the purchase. */
type Sending = Pick<PaidRequest, "headers" | "signal">;

/** A purchase with the response that brought it. */
export type Bought = Paid<unknown> & { readonly response: HttpResponse };

/**
 * Sends the signature of a payment that was found in the journal. The call or process that signed it may still be
 * waiting for the disk, and holds the lock until then: no signature leaves before it is written down for good.
 */
export async function resume(
  context: PurchaseContext,
  entry: PaymentEntry,
  sending: Sending,
): Promise<Verdict> {
  if (entry.state === "signed") await context.journal.exclusive(async () => undefined);
  return finish(context, entry, sending, { isNew: false });
}

/** Sends a payment's signature until its outcome is known, or `attemptsMax` times. */
export async function finish(
  context: PurchaseContext,
  entry: PaymentEntry,
  sending: Sending,
  how: {
    readonly isNew: boolean;
    /** For another call than the one that pays: the response is kept for that one. */
    readonly isHeld?: boolean;
  },
): Promise<Verdict> {
  const { channels } = context;
  channels?.sending.add(entry.id);
  try {
    return await sendUntilKnown(context, entry, sending, how);
  } finally {
    channels?.sending.delete(entry.id);
  }
}

async function sendUntilKnown(
  context: PurchaseContext,
  entry: PaymentEntry,
  sending: Sending,
  { isNew, isHeld = false }: Parameters<typeof finish>[3],
): Promise<Verdict> {
  let wasUnclear = !isNew && !isRejectedRequest(entry);
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await sendSignature(context, entry, { ...sending, wasUnclear, isHeld });
    await recordOutcome(context, entry, verdict, isHeld);
    if (verdict.kind !== "open") return verdict;
    wasUnclear = true;
    const { error } = verdict;
    const isWorthIt = error.retry === "same-signature" && error.code !== "ABORTED";
    if (!isWorthIt || attempt >= context.attemptsMax) return verdict;
    // The caller gets what the service said last; the payment stays open.
    if (!(await pauseBefore(attempt, error.retryAfterMs, sending.signal))) return verdict;
  }
}

async function sendSignature(
  context: PurchaseContext,
  entry: PaymentEntry,
  { headers: others, signal, wasUnclear, isHeld }: Sending & Record<"wasUnclear" | "isHeld", boolean>,
): Promise<Verdict> {
  try {
    // Also for what an earlier process wrote: the journal may have payments of other services, and can be edited.
    context.guard.assertOrigin(entry.url);
    const { method, url, signature } = entry;
    const headers = { ...others, "payment-signature": signature };
    const request = { method, url, headers, signal };
    const response = entry.isStream
      ? await openStream(context, request, isHeld)
      : await context.transport.send(request);
    if (entry.voucher === undefined)
      return await readVerdict(context, entry, response, { wasUnclear, signal });
    const { readVoucherVerdict } = await import("../channels/voucher-verdict.ts");
    const book = await context.journal.read();
    return readVoucherVerdict(entry, book, response);
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    const retry = error.code === "TERMS_REJECTED" ? "never" : "same-signature";
    return { kind: "open", error: error.forPayment(entry.id, chargedSoFar(entry), retry) };
  }
}

/** The stream itself goes to the call that buys it; for another one it is enough that the service opens it. */
async function openStream(
  { transport, takeStream }: PurchaseContext,
  request: HttpRequest,
  isHeld: boolean,
): Promise<HttpResponse> {
  const headers = { ...request.headers, accept: STREAM_TYPE };
  const opened = await transport.open({ ...request, headers });
  if (!("body" in opened)) return opened;
  if (takeStream === undefined || isHeld) opened.body.cancel().catch(() => undefined);
  else takeStream(opened.body);
  return { status: 200, headers: opened.headers, text: "{}" };
}

/** The service rejected the request itself, and nothing else since: it says that it has not charged, which only the chain shows. */
function isRejectedRequest({ state, code }: PaymentEntry): boolean {
  return state === "rejected" && code !== null && code !== "PAYMENT_REQUIRED";
}

/** The journal entry of the verdict; null for an outcome that leaves it open. */
function outcomeOf(
  entry: PaymentEntry,
  verdict: Verdict,
  isHeld: boolean,
): Pick<OutcomeRecord, "type" | "transaction" | "code" | "charged"> | null {
  if (entry.state === "paid" || (entry.state === "held" && isHeld)) return null;
  if (verdict.kind === "paid") {
    const { transaction, charge = null } = verdict;
    const charged = charge && { amount: charge.amount, total: charge.total };
    return { type: isHeld ? "held" : "paid", transaction, code: null, ...(charged && { charged }) };
  }
  // The payment may be charged from now on: the next rejection of the request no longer says that it was not.
  if (verdict.kind === "open") {
    return isRejectedRequest(entry) ? { type: "rejected", transaction: null, code: null } : null;
  }
  const { code, status } = verdict.error;
  const named = status === 402 ? "PAYMENT_REQUIRED" : code;
  const isUnclearNow = isRejectedRequest(entry) && named === "PAYMENT_REQUIRED";
  if (entry.state === verdict.kind && !isUnclearNow) return null;
  return { type: verdict.kind, transaction: null, code: named };
}

/** Not durable: if it is lost, the same signature is sent once more and gets the same response. */
async function recordOutcome(
  context: PurchaseContext,
  entry: PaymentEntry,
  verdict: Verdict,
  isHeld: boolean,
): Promise<void> {
  const outcome = outcomeOf(entry, verdict, isHeld);
  if (outcome === null) return;
  const at = context.now();
  const record: OutcomeRecord = { ...outcome, id: entry.id, at };
  const reason = verdict.kind === "paid" ? verdict.charge?.lie : null;
  const channel = entry.voucher?.channel;
  try {
    await context.journal.exclusive(async (_, append) => {
      // Another purchase goes on from it, and must not have to find it out again.
      await append(record, { durable: isHeld });
      if (!reason || channel === undefined) return;
      await append({ type: "channel", id: channel, at, state: "disputed", reason }, { durable: true });
    });
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    const charged = verdict.kind === "paid" ? "once" : verdict.error.charged;
    // Nothing is lost: the next call sends the same signature and gets the same response again.
    throw error.forPayment(entry.id, charged, "same-signature");
  }
}

export function toBought(entry: PaymentEntry, verdict: Extract<Verdict, { kind: "paid" }>): Bought {
  return { ...toPaid(entry, verdict), response: verdict.response };
}

export function toPaid(entry: PaymentEntry, verdict: Extract<Verdict, { kind: "paid" }>): Paid<unknown> {
  const { network, asset, payTo, amount } = entry.requirements;
  const { id: payment, payer } = entry;
  const { transaction, data, response, charge = null } = verdict;
  const channel = entry.voucher?.channel ?? null;
  // A call within the payer's quota.
  const units = charge?.amount === "0" && charge.lie === null ? 0n : BigInt(amount);
  const paid = { payment, transaction, channel, network, payer, payTo, asset, amount: units };
  return { data, receipt: paid, exchange: toExchange(entry, response) };
}
