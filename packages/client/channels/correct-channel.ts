// Brings the journal and the service to one sum again after a voucher was rejected, as far as our own signatures prove it.
import { hashTypedData } from "viem/utils";
import type { ChannelEntry } from "../journal/channel-book.ts";
import { DAY_MS, type PaymentBook, type PaymentEntry } from "../journal/payment-book.ts";
import type { ChannelRecord } from "../journal/records.ts";
import { finish } from "../payments/finish.ts";
import type { PurchaseContext } from "../payments/standing.ts";
import type { Correction } from "../payments/verdict.ts";
import { readChannel, recoverByNode } from "./channel-chain.ts";
import { voucherTypedData } from "./channel-typed-data.ts";
import { disputeError } from "./voucher-verdict.ts";

/** Vouchers whose response a service may owe at a time: those of all processes that were killed at once. */
const OWED_MAX = 8;

/** Reads are stored for minutes. A client that dies more often than that within a day, each time for longer, is not one. */
const LOST_READS_PER_DAY_MAX = 8;

const isToday = (endedAt: number | null, nowMs: number) => endedAt !== null && nowMs - endedAt < DAY_MS;

type Rejected = {
  readonly entry: PaymentEntry;
  readonly correction: Correction;
  readonly signal: AbortSignal | undefined;
};

/**
 * Writes down what the next voucher goes on from; throws if the service asks for more than our key has signed, or has
 * charged what it does not deliver. A smaller sum is always taken: signing it again gives the service nothing.
 */
export async function correctChannel(context: PurchaseContext, rejected: Rejected): Promise<void> {
  const { entry, correction } = rejected;
  const channel = await findChannel(context, entry);
  if (correction.kind === "uncovered") {
    const state = await readByNode(context, channel);
    const balance = (state?.balance ?? channel.charged).toString();
    return noteChannel(context, channel, { balance });
  }
  const charged = correction.charged ?? (await readByNode(context, channel))?.totalClaimed ?? null;
  if (charged === null) throw disputeError(entry, "it does not say what it charged");
  if (charged <= channel.signed) return acceptDelivered(context, rejected, charged);
  const { proof } = correction;
  const isOurs = proof !== null && charged <= proof.signed && (await isOwnVoucher(context, channel, proof));
  const claimed = isOurs ? 0n : ((await readByNode(context, channel))?.totalClaimed ?? 0n);
  const signed = isOurs ? proof.signed : claimed;
  // Nothing was signed for it, and the next call asks again.
  if (signed <= channel.signed) throw disputeError(entry, "it asks for more than was signed");
  const sum = charged < signed ? charged : signed;
  return noteChannel(context, channel, { charged: sum.toString(), signed: signed.toString() });
}

/** Gets the responses that were charged and did not arrive, before the next voucher goes on from their sum. */
async function acceptDelivered(
  context: PurchaseContext,
  { entry, signal }: Rejected,
  charged: bigint,
): Promise<void> {
  let channel = await findChannel(context, entry);
  if (charged > channel.delivered) {
    const owed = findOwed(await context.journal.read(), entry, charged);
    for (const each of owed) {
      if (charged <= channel.delivered) break;
      const verdict = await finish(context, each, { signal }, { isNew: false, isHeld: true });
      // Not known yet: neither is signed for nor judged.
      if (verdict.kind === "open") throw verdict.error;
    }
    await acceptLost(context, await findChannel(context, entry), charged);
    channel = await findChannel(context, entry);
  }
  if (charged <= channel.delivered) return noteChannel(context, channel, { charged: charged.toString() });
  const reason = "it charged a voucher and does not deliver what was bought";
  await noteChannel(context, channel, { state: "disputed", reason });
  throw disputeError(entry, reason);
}

/**
 * Vouchers of other purchases that did not arrive, newest first: one for each, and those whose outcome is not known before
 * others. A service that charged an older voucher of the same purchase has no reason to reject the newest.
 */
function findOwed(book: PaymentBook, { voucher }: PaymentEntry, charged: bigint): PaymentEntry[] {
  const received = book.channels.get(voucher?.channel ?? "")?.received;
  const owed = new Map<string, PaymentEntry>();
  for (const state of ["rejected", "signed"]) {
    for (const each of book.list()) {
      if (each.state !== state || !each.voucher || each.voucher.channel !== voucher?.channel) continue;
      const { cumulative, name } = each.voucher;
      if (name === voucher.name || BigInt(cumulative) > charged || received?.has(name)) continue;
      owed.delete(name);
      owed.set(name, each);
    }
  }
  return [...owed.values()].slice(-OWED_MAX).reverse();
}

/**
 * Takes the voucher that brings the channel to the sum as lost if it is older than responses are stored: a service that was
 * honest then cannot deliver it. One that lies gets one price a day by it, or those of a few reads, and its payment is a
 * conflict in the journal.
 */
async function acceptLost(
  { journal, now }: PurchaseContext,
  { id: channel, delivered, received }: ChannelEntry,
  charged: bigint,
): Promise<void> {
  await journal.exclusive(async (book, append) => {
    const at = now();
    const lost = book.list().find(({ state, at: signedAt, voucher, requirements, storedMs = DAY_MS }) => {
      if (voucher?.channel !== channel || BigInt(voucher.cumulative) !== charged) return false;
      const isOver = state !== "paid" && state !== "held" && at - signedAt >= storedMs;
      return isOver && !received.has(voucher.name) && charged === delivered + BigInt(requirements.amount);
    });
    if (lost === undefined) return;
    const lostToday = book.list().filter(({ id, state, voucher, endedAt }) => {
      return state === "conflict" && voucher?.channel === channel && id !== lost.id && isToday(endedAt, at);
    });
    if (lostToday.length >= LOST_READS_PER_DAY_MAX) return;
    const outcome = {
      type: "conflict",
      id: lost.id,
      at,
      transaction: null,
      code: "PAYMENT_CONFLICT",
    } as const;
    const sums = { amount: lost.requirements.amount, total: charged.toString() };
    await append({ ...outcome, charged: sums }, { durable: true });
  });
}

/** Asks the node, which recovers signers itself: a page need not load the curve for it. False without a node. */
async function isOwnVoucher(
  { transport, guard: { node } }: PurchaseContext,
  { network, id, config }: ChannelEntry,
  { signed, signature }: { readonly signed: bigint; readonly signature: `0x${string}` },
): Promise<boolean> {
  if (node === null) return false;
  const digest = hashTypedData(voucherTypedData(network, id, signed));
  return (
    (await recoverByNode(transport, { node, signal: undefined }, digest, signature)) ===
    config.payerAuthorizer
  );
}

/** As the node of the guard shows it; null without one. */
async function readByNode({ transport, guard: { node } }: PurchaseContext, channel: ChannelEntry) {
  return node === null ? null : readChannel(transport, { node, signal: undefined }, channel, "latest");
}

async function findChannel({ journal }: PurchaseContext, { voucher }: PaymentEntry): Promise<ChannelEntry> {
  const channel = (await journal.read()).channels.get(voucher?.channel ?? "");
  if (channel === null) throw new TypeError("a voucher without its channel");
  return channel;
}

/** Writes into the journal what was learned about a channel. */
export async function noteChannel(
  { journal, now }: PurchaseContext,
  { id }: ChannelEntry,
  learned: Partial<ChannelRecord>,
): Promise<void> {
  const record: ChannelRecord = { type: "channel", id, at: now(), ...learned };
  await journal.exclusive((_, append) => append(record, { durable: true }));
}
