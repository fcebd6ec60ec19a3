// A purchase: find its open payment or sign a new one, write it down, and send it until the outcome is known.
import { keccak256, toBytes } from "viem/utils";
import { SextantError } from "../errors.ts";
import { giveAddress, isUnlocated, locateWallet } from "../http/named-wallet.ts";
import { pauseBefore, sendRepeatedly } from "../http/repeat.ts";
import { normalizeRequestUrl } from "../http/request-spelling.ts";
import { parseJson, shorten, type Transport } from "../http/transport.ts";
import type { Journal } from "../journal/journal.ts";
import type { PaymentBook, PaymentEntry } from "../journal/payment-book.ts";
import type { OutcomeRecord, SignedRecord } from "../journal/records.ts";
import type { Paid } from "../operation.ts";
import { type Payer, signTransfer } from "./authorization.ts";
import type { Guard } from "./guard.ts";
import { type PaymentTerms, parsePaymentRequired } from "./terms.ts";
import { chargedSoFar, readVerdict, type Verdict } from "./verdict.ts";

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

/** A wallet's name is replaced by its address: the payment is for an address. Both find the same purchase again. */
export async function buy(context: PurchaseContext, asked: PaidRequest): Promise<Paid<unknown>> {
  const { transport, attemptsMax } = context;
  const { method, signal } = asked;
  const given = { ...asked, url: normalizeRequestUrl(asked.url) };
  const over = new Set<string>();
  // Looks up what the caller gave, before the service can say to which address a name leads today. The journals of
  // earlier versions have the request as it was written.
  const held = await settleHeld(context, given, { urls: [given.url, asked.url], over });
  if (held !== null) return held;
  const url = await locateWallet(context, given);
  const urls = [url, giveAddress(given.url, url)];
  const heldByAddress = url === given.url ? null : await settleHeld(context, given, { urls, over });
  if (heldByAddress !== null) return heldByAddress;
  const accepted = [200, 402];
  const unpaid = await sendRepeatedly(transport, { method, url, signal }, { attemptsMax, accepted });
  // A service that asks for no payment, such as one under development.
  if (unpaid.status === 200) return { data: parseJson(unpaid.text), receipt: null };
  const terms = parsePaymentRequired(unpaid.headers.get("payment-required"));
  const { entry, isNew } = await signOnce(context, { given, url, over }, terms);
  const finished = await finish(context, entry, signal, isNew);
  if (finished.kind === "paid") return toPaid(entry, finished);
  throw finished.error;
}

/**
 * Sends the signature of the payment that stands for the purchase again, also past its end: the service may have found
 * the money meanwhile. Returns null if there is none, or if it is `over` and this call may make a new one.
 */
async function settleHeld(
  context: PurchaseContext,
  given: PaidRequest,
  { urls, over }: { readonly urls: readonly string[]; readonly over: Set<string> },
): Promise<Paid<unknown> | null> {
  const { journal, payer, now } = context;
  const entry = findStanding(await journal.read(), { payer, given, urls, over }, now());
  if (entry === null) return null;
  const finished = await resume(context, entry, given.signal);
  if (finished.kind === "paid") return toPaid(entry, finished);
  if (finished.error.retry !== "sign-again") throw finished.error;
  over.add(entry.id);
  return null;
}

type Sought = {
  readonly payer: Payer | null;
  readonly given: PaidRequest;
  /** The same request, by name and by address, with times and with blocks. */
  readonly urls: readonly string[];
  readonly over: ReadonlySet<string>;
};

/** The payment that stands for any of the requests, except for what is over. */
function findStanding(
  book: PaymentBook,
  { payer, given, urls, over }: Sought,
  nowMs: number,
): PaymentEntry | null {
  // Another process may have got the response of one that was over here.
  const isOver = ({ state, id }: PaymentEntry) => state === "rejected" && over.has(id);
  for (const url of urls) {
    const entry = book.findReusable(digestRequest(payer, given, url), nowMs);
    if (entry !== null && !isOver(entry)) return entry;
  }
  if (given.purchase === null || payer === null) return null;
  const named = { payer: payer.address, url: given.url, purchase: given.purchase };
  const entry = book.findNamed(named, nowMs);
  if (entry === null || isOver(entry)) return null;
  const asGiven = entry.given?.url ?? entry.url;
  const written = [entry.url, asGiven, giveAddress(asGiven, entry.url)].map(normalizeRequestUrl);
  if (entry.method === given.method && urls.some((url) => written.includes(normalizeRequestUrl(url)))) {
    return entry;
  }
  // If a name or a time leads, the service has not said yet.
  if (urls.every(isUnlocated)) return null;
  throw new SextantError(
    "INPUT_INVALID",
    `The purchase "${given.purchase}" is for another request, ${shorten(entry.url)}. Nothing was signed: repeat that request, or give this one a name of its own.`,
  );
}

/**
 * Sends the signature of a payment that was found in the journal. The call or process that signed it may still be
 * waiting for the disk, and holds the lock until then: no signature leaves before it is written down for good.
 */
export async function resume(
  context: PurchaseContext,
  entry: PaymentEntry,
  signal?: AbortSignal | undefined,
): Promise<Verdict> {
  if (entry.state === "signed") await context.journal.exclusive(async () => undefined);
  return finish(context, entry, signal, false);
}

/** Sends a payment's signature until its outcome is known, or `attemptsMax` times. */
async function finish(
  context: PurchaseContext,
  entry: PaymentEntry,
  signal: AbortSignal | undefined,
  isNew: boolean,
): Promise<Verdict> {
  let wasUnclear = !isNew && !isRejectedRequest(entry);
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await sendSignature(context, entry, { wasUnclear, signal });
    await recordOutcome(context, entry, verdict);
    if (verdict.kind !== "open") return verdict;
    wasUnclear = true;
    const { error } = verdict;
    const isWorthIt = error.retry === "same-signature" && error.code !== "ABORTED";
    if (!isWorthIt || attempt >= context.attemptsMax) return verdict;
    // The caller gets what the service said last; the payment stays open.
    if (!(await pauseBefore(attempt, error.retryAfterMs, signal))) return verdict;
  }
}

type NewPurchase = {
  readonly given: PaidRequest;
  /** Keyed by address. */
  readonly url: string;
  /** Ids of payments of this purchase that are known to be over. */
  readonly over: ReadonlySet<string>;
};

/**
 * Under the lock of the journal, so that no other call or process decides on the same budget: looks again for a payment
 * of this purchase, checks the limits, signs, and has the signature on disk before anyone can send it.
 */
function signOnce(
  { journal, guard, payer, now }: PurchaseContext,
  { given, url, over }: NewPurchase,
  offered: readonly PaymentTerms[],
): Promise<{ readonly entry: PaymentEntry; readonly isNew: boolean }> {
  if (payer === null) {
    throw new SextantError(
      "PAYMENT_REQUIRED",
      "The service asks for a payment, and the client has no payer.",
      {
        status: 402,
      },
    );
  }
  guard.assertOrigin(url);
  const { method, purchase, signal } = given;
  const asGiven = digestRequest(payer, given, given.url);
  const request = digestRequest(payer, given, url);
  return journal.exclusive(async (book, append) => {
    const urls = [given.url, url, giveAddress(given.url, url)];
    const other = findStanding(book, { payer, given, urls, over }, now());
    if (other !== null) return { entry: other, isNew: false };
    if (signal?.aborted) throw new SextantError("ABORTED", "Aborted; nothing was signed.");
    const terms = guard.choose(offered, book);
    guard.assertWithinLimits(terms, book, now());
    const at = now();
    const signed = await signTransfer(payer, terms, at);
    const record: SignedRecord = {
      type: "signed",
      id: signed.nonce,
      at,
      payer: payer.address.toLowerCase(),
      method,
      url,
      purchase,
      request,
      given: given.url === url ? null : { url: given.url, request: asGiven },
      requirements: { ...pinned(terms), amount: terms.amount.toString() },
      validBefore: signed.validBefore,
      signature: signed.header,
    };
    await append(record, { durable: true });
    const entry = book.get(record.id);
    if (entry !== null) return { entry, isNew: true };
    throw new SextantError("JOURNAL_UNAVAILABLE", "The journal did not keep the payment.");
  });
}

function pinned({ network, asset, payTo }: PaymentTerms) {
  return { network, asset, payTo };
}

async function sendSignature(
  context: PurchaseContext,
  entry: PaymentEntry,
  sending: { readonly wasUnclear: boolean; readonly signal: AbortSignal | undefined },
): Promise<Verdict> {
  try {
    // Also for what an earlier process wrote: the journal may have payments of other services, and can be edited.
    context.guard.assertOrigin(entry.url);
    const { method, url, signature } = entry;
    const headers = { "payment-signature": signature };
    const { signal } = sending;
    const response = await context.transport.send({ method, url, headers, signal });
    return await readVerdict(context, entry, response, sending);
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    const retry = error.code === "TERMS_REJECTED" ? "never" : "same-signature";
    return { kind: "open", error: error.forPayment(entry.id, chargedSoFar(entry), retry) };
  }
}

/** The service rejected the request itself, and nothing else since: it says that it has not charged, which only the chain shows. */
function isRejectedRequest({ state, code }: PaymentEntry): boolean {
  return state === "rejected" && code !== null && code !== "PAYMENT_REQUIRED";
}

/** The journal entry of the verdict; null if there is none. */
function outcomeOf(
  entry: PaymentEntry,
  verdict: Verdict,
): Pick<OutcomeRecord, "type" | "transaction" | "code"> | null {
  if (entry.state === "paid") return null;
  if (verdict.kind === "paid") return { type: "paid", transaction: verdict.transaction, code: null };
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
async function recordOutcome(context: PurchaseContext, entry: PaymentEntry, verdict: Verdict): Promise<void> {
  const outcome = outcomeOf(entry, verdict);
  if (outcome === null) return;
  const record: OutcomeRecord = { ...outcome, id: entry.id, at: context.now() };
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

/** Equal for calls that are one purchase. */
function digestRequest(payer: Payer | null, { method, purchase }: PaidRequest, url: string): string {
  return keccak256(toBytes(JSON.stringify([payer?.address.toLowerCase() ?? null, method, url, purchase])));
}
