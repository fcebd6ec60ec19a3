// A purchase by channel: a voucher for the next sum, in the journal before it is sent, and corrected if the service knows another.
import { SextantError } from "../errors.ts";
import { giveAddress } from "../http/named-wallet.ts";
import { pauseBefore } from "../http/repeat.ts";
import type { Append } from "../journal/journal.ts";
import { DAY_MS, type PaymentBook, type PaymentEntry } from "../journal/payment-book.ts";
import type { SignedRecord } from "../journal/records.ts";
import { newName, type Payer, randomHex } from "../payments/authorization.ts";
import { type Bought, finish, toBought } from "../payments/finish.ts";
import type { Signing } from "../payments/guard.ts";
import {
  type ChannelUse,
  digestRequest,
  findStanding,
  type NewPurchase,
  type PurchaseContext,
} from "../payments/standing.ts";
import type { PaymentTerms } from "../payments/terms.ts";
import { type Plan, planVoucher } from "./channel-plan.ts";
import { correctChannel } from "./correct-channel.ts";
import { encodeVoucher, newChannel, signDeposit, signVoucher } from "./voucher.ts";

// A client whose journal is old is corrected to what is claimed, and then to what is charged; others may buy meanwhile.
const CORRECTIONS_MAX = 5;
const BUSY_PAUSE_MS = 50;
// More than the longest response takes.
const BUSY_MS_MAX = 40_000;

type Buyer = { readonly payer: Payer; readonly use: ChannelUse };
type Signed = { readonly entry: PaymentEntry; readonly isNew: boolean };

/** Null if the purchase is to be paid by a transfer. */
export async function buyByChannel(
  context: PurchaseContext,
  purchase: NewPurchase,
  offered: readonly PaymentTerms[],
): Promise<Bought | null> {
  const { payer, channels: use } = context;
  const terms = offered.filter(({ channel }) => channel !== null);
  if (payer === null || use === null || terms.length === 0) return null;
  try {
    return await use.inTurn(() => buyInTurn(context, { payer, use }, purchase, terms));
  } catch (error) {
    const mayPayOtherwise = error instanceof NotByChannel && terms.length < offered.length;
    if (mayPayOtherwise) return null;
    throw error instanceof NotByChannel ? error.cause : error;
  }
}

/** A transfer may pay; the cause says why not a channel. */
class NotByChannel extends Error {}

async function buyInTurn(
  context: PurchaseContext,
  buyer: Buyer,
  purchase: NewPurchase,
  terms: readonly PaymentTerms[],
): Promise<Bought> {
  const { given } = purchase;
  for (let corrections = 0; ; corrections += 1) {
    const { entry, isNew } = await signWhenFree(context, buyer, purchase, terms);
    const verdict = await finish(context, entry, given, { isNew });
    if (verdict.kind === "paid") return toBought(entry, verdict);
    const { kind, error, correction = null } = verdict;
    if (kind === "rejected" && error.status === 402 && correction === null && !entry.voucher?.deposit) {
      // The service no longer takes the channel. The rejected voucher is for the sum of the next one, whatever that buys.
      purchase.over.add(entry.id);
      throw new NotByChannel("", { cause: error });
    }
    if (correction === null || corrections >= CORRECTIONS_MAX) throw error;
    await correctChannel(context, { entry, correction, signal: given.signal });
    purchase.over.add(entry.id);
  }
}

/** Waits while other processes use all channels. */
async function signWhenFree(
  context: PurchaseContext,
  buyer: Buyer,
  purchase: NewPurchase,
  terms: readonly PaymentTerms[],
): Promise<Signed> {
  const until = context.now() + BUSY_MS_MAX;
  for (;;) {
    const signed = await context.journal.exclusive((book, append) =>
      signOnce(context, buyer, purchase, terms, { book, append }),
    );
    if (signed !== null) return signed;
    const mayWait = context.now() < until;
    if (!mayWait || !(await pauseBefore(1, BUSY_PAUSE_MS, purchase.given.signal))) {
      throw new SextantError("OVERLOADED", "Other processes use all channels; nothing was signed.");
    }
  }
}

type Locked = { readonly book: PaymentBook; readonly append: Append };

/** Under the lock of the journal; null while all channels are in use. */
async function signOnce(
  context: PurchaseContext,
  { payer, use }: Buyer,
  purchase: NewPurchase,
  offered: readonly PaymentTerms[],
  { book, append }: Locked,
): Promise<Signed | null> {
  const { guard, now } = context;
  const { given, url, over } = purchase;
  const { method, signal } = given;
  guard.assertOrigin(url);
  const urls = [given.url, url, giveAddress(given.url, url)];
  const at = now();
  const other = findStanding(book, { payer, given, urls, over }, at);
  if (other !== null) return { entry: other, isNew: false };
  if (signal?.aborted) throw new SextantError("ABORTED", "Aborted; nothing was signed.");
  const terms = byTransferIfNot(() => guard.choose(offered, book));
  const account = payer.address.toLowerCase();
  const plan = planVoucher(book, { terms, payer: account, use, nowMs: at, hasNode: guard.node !== null });
  if (plan.kind === "busy") return null;
  if (plan.kind === "none") {
    const error = new SextantError("TERMS_REJECTED", `Not paid by channel: ${plan.reason}.`);
    throw plan.isDisputed ? error : new NotByChannel("", { cause: error });
  }
  const target = targetOf(payer, terms, plan);
  byTransferIfNot(() => guard.assertWithinClient(target.signing));
  if (plan.kind === "deposit") {
    byTransferIfNot(() => guard.assertWithinLimits({ ...terms, amount: plan.amount }, book, at));
  }
  const request = digestRequest(payer, given, url);
  const signed = await signPlan(payer, terms, plan, target, { nowMs: at, name: nameOf(book, request, at) });
  const record: SignedRecord = {
    type: "voucher",
    id: signed.isFirst && signed.voucher.deposit !== null ? signed.voucher.deposit.id : randomHex(32),
    at,
    payer: account,
    method,
    url,
    purchase: given.purchase,
    request,
    given: given.url === url ? null : { url: given.url, request: digestRequest(payer, given, given.url) },
    requirements: {
      ...{ network: terms.network, asset: terms.asset, payTo: terms.payTo },
      amount: terms.amount.toString(),
    },
    validBefore: signed.voucher.deposit?.validBefore ?? 0,
    ...(given.storedMs === undefined ? {} : { storedMs: given.storedMs }),
    ...(given.isStream === true ? { isStream: true } : {}),
    signature: signed.header,
    voucher: { ...signed.voucher, owner: use.owner },
  };
  await append(record, { durable: true });
  guard.count(target.signing);
  const entry = book.get(record.id);
  if (entry !== null) return { entry, isNew: true };
  throw new SextantError("JOURNAL_UNAVAILABLE", "The journal did not keep the payment.");
}

type VoucherPlan = Extract<Plan, { kind: "voucher" | "deposit" }>;

/** The channel and the sum of the next voucher, and what the guard counts of it. */
function targetOf(payer: Payer, terms: PaymentTerms, { channel }: VoucherPlan) {
  const { id, config } = channel ?? newChannel(payer.address, terms);
  const before = channel?.charged ?? 0n;
  const isSumKnown = channel?.isSumKnown !== false;
  // The service cannot have charged one unit, and states the sum. A price could be what it has charged already.
  const cumulative = before + (isSumKnown ? terms.amount : 1n);
  // The unit buys nothing, and is not counted.
  const charged = isSumKnown ? before : cumulative;
  const signing: Signing = { kind: "voucher", channel: id, charged, cumulative };
  return { id, config, cumulative, signing };
}

/** Signs nothing beyond one price above what was delivered, whatever the journal or the service says. */
async function signPlan(
  payer: Payer,
  terms: PaymentTerms,
  plan: VoucherPlan,
  { id, config, cumulative }: ReturnType<typeof targetOf>,
  { nowMs, name }: { readonly nowMs: number; readonly name: string },
) {
  const { charged, signed, delivered } = plan.channel ?? { charged: 0n, signed: 0n, delivered: 0n };
  if (cumulative > signed && charged > delivered) throw new TypeError("a voucher beyond what was delivered");
  const isFirst = plan.kind === "deposit";
  const deposit = isFirst
    ? await signDeposit(payer, terms, { id, config }, plan.amount, nowMs)
    : plan.deposit;
  const voucher = await signVoucher(payer, terms.network, id, cumulative);
  return {
    isFirst,
    header: encodeVoucher(terms, config, voucher, { deposit, name }),
    voucher: {
      channel: id,
      cumulative: cumulative.toString(),
      name,
      deposit,
    },
  };
}

/**
 * The name of the last voucher for the same purchase if it was rejected: the service sells under one name once, for as
 * long as it stores the response.
 */
function nameOf(book: PaymentBook, request: string, nowMs: number): string {
  const last = book.findLast(request);
  if (last?.state !== "rejected" || !last.voucher) return newName();
  const { name } = last.voucher;
  const first = book.list().find(({ voucher }) => voucher?.name === name) ?? last;
  return nowMs - first.at < DAY_MS ? name : newName();
}

function byTransferIfNot<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new NotByChannel("", { cause });
  }
}
