// A purchase: find its open payment or sign a new one, write it down, and send it until the outcome is known.
import { keccak256, toBytes } from "viem/utils";
import { type ErrorCode, SextantError } from "../errors.ts";
import { locateWallet } from "../http/named-wallet.ts";
import { pauseBefore, sendRepeatedly } from "../http/repeat.ts";
import { type HttpResponse, parseJson, type Transport, toResponseError } from "../http/transport.ts";
import type { Journal } from "../journal/journal.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import type { OutcomeRecord, SignedRecord } from "../journal/records.ts";
import type { Paid } from "../operation.ts";
import { type Payer, signTransfer } from "./authorization.ts";
import type { Guard } from "./guard.ts";
import { readTransaction } from "./receipt.ts";
import { type PaymentTerms, parsePaymentRequired } from "./terms.ts";

export type PurchaseContext = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly guard: Guard;
  readonly payer: Payer | null;
  /** How often one call sends a request, and then its signature, before it gives up for now. */
  readonly attemptsMax: number;
  readonly now: () => number;
};

export type PaidRequest = {
  readonly method: string;
  readonly url: string;
  readonly purchase: string | null;
  readonly signal?: AbortSignal | undefined;
};

/** What a response to a signature says about the payment. */
type Verdict =
  | { readonly kind: "paid"; readonly data: unknown; readonly transaction: string | null }
  | { readonly kind: "rejected" | "conflict" | "open"; readonly error: SextantError };

/** The handler failed or was not reached: the service's ledger holds no charge, and the same signature may succeed. */
const NOT_CHARGED: ReadonlySet<ErrorCode> = new Set(["PROVIDER_FAILED", "FACILITATOR_UNAVAILABLE"]);

const CONFLICT_ADVICE = "Nothing new is signed for this purchase today; to pay again, name a new purchase.";

/** A wallet's name is replaced by its address first: the journal and the payment are for an address. */
export async function buy(context: PurchaseContext, given: PaidRequest): Promise<Paid<unknown>> {
  const request = { ...given, url: await locateWallet(context, given) };
  const digest = digestRequest(context, request);
  const known = (await context.journal.read()).findReusable(digest, context.now());
  if (known !== null) {
    const finished = await resume(context, known, request.signal);
    if (finished.kind === "paid") return toPaid(known, finished);
    // The old signature is over and was not charged: this call may make a new one.
    if (finished.error.retry !== "sign-again") throw finished.error;
  }
  const { transport, attemptsMax } = context;
  const { method, url, signal } = request;
  const accepted = [200, 402];
  const unpaid = await sendRepeatedly(transport, { method, url, signal }, { attemptsMax, accepted });
  // A service that asks for no payment, such as one under development.
  if (unpaid.status === 200) return { data: parseJson(unpaid.text), receipt: null };
  const terms = parsePaymentRequired(unpaid.headers.get("payment-required"));
  const entry = await signOnce(context, request, digest, terms);
  const finished = await finish(context, entry, signal);
  if (finished.kind === "paid") return toPaid(entry, finished);
  throw finished.error;
}

/**
 * The same for a payment that was found in the journal. The call or process that signed it may still be waiting for the
 * disk, and holds the lock until then: no signature leaves before it is written down for good.
 */
export async function resume(
  context: PurchaseContext,
  entry: PaymentEntry,
  signal?: AbortSignal | undefined,
): Promise<Verdict> {
  if (entry.state === "signed") await context.journal.exclusive(async () => undefined);
  return finish(context, entry, signal);
}

/** Sends a payment's signature until its outcome is known, or `attemptsMax` times. */
async function finish(
  context: PurchaseContext,
  entry: PaymentEntry,
  signal?: AbortSignal | undefined,
): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await sendSignature(context, entry, signal);
    if (verdict.kind !== "open") {
      await recordOutcome(context, entry, verdict);
      return verdict;
    }
    const { error } = verdict;
    const isWorthIt = error.retry === "same-signature" && error.code !== "ABORTED";
    if (!isWorthIt || attempt >= context.attemptsMax) return verdict;
    // The caller gets what the service said last; the payment stays open.
    if (!(await pauseBefore(attempt, error.retryAfterMs, signal))) return verdict;
  }
}

/**
 * Under the lock of the journal, so that no other call or process decides on the same budget: looks again for a payment
 * of this request, checks the limits, signs, and has the signature on disk before anyone can send it.
 */
function signOnce(
  context: PurchaseContext,
  request: PaidRequest,
  digest: string,
  offered: readonly PaymentTerms[],
): Promise<PaymentEntry> {
  const { journal, guard, payer, now } = context;
  if (payer === null) {
    throw new SextantError(
      "PAYMENT_REQUIRED",
      "The service asks for a payment, and the client has no payer.",
      {
        status: 402,
      },
    );
  }
  guard.assertOrigin(request.url);
  return journal.exclusive(async (book, append) => {
    const other = book.findReusable(digest, now());
    if (other !== null) return other;
    if (request.signal?.aborted) throw new SextantError("ABORTED", "Aborted; nothing was signed.");
    const terms = guard.choose(offered, book);
    guard.assertWithinLimits(terms, book, now());
    const at = now();
    const signed = await signTransfer(payer, terms, at);
    const record: SignedRecord = {
      type: "signed",
      id: signed.nonce,
      at,
      payer: payer.address.toLowerCase(),
      method: request.method,
      url: request.url,
      request: digest,
      purchase: request.purchase,
      requirements: { ...pinned(terms), amount: terms.amount.toString() },
      validBefore: signed.validBefore,
      signature: signed.header,
    };
    await append(record, { durable: true });
    const entry = book.get(record.id);
    if (entry === null)
      throw new SextantError("JOURNAL_UNAVAILABLE", "The journal did not keep the payment.");
    return entry;
  });
}

function pinned({ network, asset, payTo }: PaymentTerms) {
  return { network, asset, payTo };
}

async function sendSignature(
  { transport, guard }: PurchaseContext,
  entry: PaymentEntry,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  try {
    // Also for what an earlier process wrote: the journal may have payments of other services, and can be edited.
    guard.assertOrigin(entry.url);
    const { method, url, signature } = entry;
    const headers = { "payment-signature": signature };
    return readVerdict(entry, await transport.send({ method, url, headers, signal }));
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    const retry = error.code === "TERMS_REJECTED" ? "never" : "same-signature";
    return { kind: "open", error: error.forPayment(entry.id, "unknown", retry) };
  }
}

function readVerdict({ id, state }: PaymentEntry, response: HttpResponse): Verdict {
  if (response.status === 200) {
    const data = parseJson(response.text);
    return { kind: "paid", data, transaction: readTransaction(response.headers.get("payment-response")) };
  }
  const error = toResponseError(response);
  const { status, code } = error;
  const isOver = status === 402 || code === "PAYMENT_CONFLICT";
  const mayBeCharged = code === "PAYMENT_CONFLICT" || state === "paid" || state === "conflict";
  // A new signature for the same purchase could pay twice.
  if (isOver && mayBeCharged) {
    const charged = state === "paid" ? "once" : "unknown";
    return { kind: "conflict", error: error.forPayment(id, charged, "never", CONFLICT_ADVICE) };
  }
  if (isOver) return { kind: "rejected", error: error.forPayment(id, "no", "sign-again") };
  const charged = NOT_CHARGED.has(code) ? "no" : "unknown";
  // A client error is no word about the payment: it may be a proxy's, or of a service that has changed since.
  const isFinal = status !== null && status < 500 && error.retry === "never";
  return { kind: "open", error: error.forPayment(id, charged, isFinal ? "never" : "same-signature") };
}

/** Not durable: if it is lost, the same signature is sent once more and gets the same response. */
async function recordOutcome(context: PurchaseContext, entry: PaymentEntry, verdict: Verdict): Promise<void> {
  if (verdict.kind === "open" || entry.state === "paid" || entry.state === verdict.kind) return;
  const record: OutcomeRecord = {
    type: verdict.kind,
    id: entry.id,
    at: context.now(),
    transaction: verdict.kind === "paid" ? verdict.transaction : null,
    code: verdict.kind === "paid" ? null : verdict.error.code,
  };
  try {
    await context.journal.exclusive((_, append) => append(record, { durable: false }));
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    const charged = verdict.kind === "paid" ? "once" : verdict.error.charged;
    // Nothing is lost: the next call sends the same signature and gets the same response again.
    throw error.forPayment(entry.id, charged, "same-signature");
  }
}

export function toPaid(entry: PaymentEntry, verdict: Extract<Verdict, { kind: "paid" }>): Paid<unknown> {
  const { network, asset, payTo, amount } = entry.requirements;
  const { id: payment, payer } = entry;
  const { transaction, data } = verdict;
  return { data, receipt: { payment, transaction, network, payer, payTo, asset, amount: BigInt(amount) } };
}

/** Equal for calls that are one purchase. Chains and addresses are compared as they are written. */
function digestRequest({ payer }: PurchaseContext, { method, url, purchase }: PaidRequest): string {
  return keccak256(toBytes(JSON.stringify([payer?.address.toLowerCase() ?? null, method, url, purchase])));
}
