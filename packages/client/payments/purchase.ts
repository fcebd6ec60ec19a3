// A purchase: find its open payment or sign a new one, write it down, and send it until the outcome is known.
import { SextantError } from "../errors.ts";
import { giveAddress, locateWallet } from "../http/named-wallet.ts";
import { sendRepeatedly } from "../http/repeat.ts";
import { normalizeRequestUrl } from "../http/request-spelling.ts";
import { type HttpResponse, parseJson } from "../http/transport.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import type { SignedRecord } from "../journal/records.ts";
import type { Paid } from "../operation.ts";
import { signTransfer } from "./authorization.ts";
import { toExchange } from "./exchange.ts";
import { type Bought, finish, resume, toBought } from "./finish.ts";
import {
  digestRequest,
  findStanding,
  type NewPurchase,
  type PaidRequest,
  type PurchaseContext,
} from "./standing.ts";
import { type PaymentTerms, parsePaymentRequired } from "./terms.ts";

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
  const first = await sendRepeatedly(transport, { method, url, signal }, { attemptsMax, accepted });
  const unpaid = await getAgain(context, { ...given, url }, first);
  // A service that asks for no payment, such as one under development, or has the response of an earlier one.
  if (unpaid.status === 200) {
    return { data: parseJson(unpaid.text), receipt: null, exchange: toExchange({ method, url }, unpaid) };
  }
  const { channels } = context;
  const header = unpaid.headers.get("payment-required");
  const offered = parsePaymentRequired(header, { channels: channels !== null });
  const purchase = { given, url, over };
  if (channels !== null) {
    const { buyByChannel } = await import("../channels/channel-purchase.ts");
    const bought = await buyByChannel(context, purchase, offered);
    if (bought !== null) return bought;
  }
  const transfers = offered.filter(({ channel }) => channel === null);
  const { entry, isNew } = await signOnce(context, purchase, transfers);
  const finished = await finish(context, entry, { signal }, { isNew });
  if (finished.kind === "paid") return toBought(entry, finished);
  throw finished.error;
}

/** The response of an earlier purchase if the caller wants that and the service has it; otherwise the terms. */
async function getAgain(
  context: PurchaseContext,
  { method, url, signal, again = false }: PaidRequest,
  first: HttpResponse,
): Promise<HttpResponse> {
  if (!again || first.status !== 402) return first;
  const { signIn } = await import("./sign-in.ts");
  return signIn(context, { method, url, signal }, first);
}

/**
 * Sends the signature of the payment that stands for the purchase again, also past its end: the service may have found
 * the money meanwhile. Returns null if there is none, or if it is `over` and this call may make a new one.
 */
export async function settleHeld(
  context: PurchaseContext,
  given: PaidRequest,
  { urls, over }: { readonly urls: readonly string[]; readonly over: Set<string> },
): Promise<Bought | null> {
  const { journal, payer, now } = context;
  const entry = findStanding(await journal.read(), { payer, given, urls, over }, now());
  if (entry === null) return null;
  const finished = await resume(context, entry, given);
  if (finished.kind === "paid") return toBought(entry, finished);
  const { correction, error } = finished;
  if (error.retry !== "sign-again") throw error;
  if (correction) {
    const { correctChannel } = await import("../channels/correct-channel.ts");
    await correctChannel(context, { entry, correction, signal: given.signal });
  }
  over.add(entry.id);
  return null;
}

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
    const transfer = { kind: "transfer", amount: terms.amount } as const;
    guard.assertWithinClient(transfer);
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
    guard.count(transfer);
    const entry = book.get(record.id);
    if (entry !== null) return { entry, isNew: true };
    throw new SextantError("JOURNAL_UNAVAILABLE", "The journal did not keep the payment.");
  });
}

function pinned({ network, asset, payTo }: PaymentTerms) {
  return { network, asset, payTo };
}
