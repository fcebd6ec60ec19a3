// Decides what a response to a voucher means. The service may lie about sums: it can claim what was signed, and nothing more.
import { SextantError } from "../errors.ts";
import { type HttpResponse, parseJson, readServiceCode, toResponseError } from "../http/transport.ts";
import type { ChannelEntry } from "../journal/channel-book.ts";
import type { PaymentBook, PaymentEntry } from "../journal/payment-book.ts";
import { readTransaction } from "../payments/receipt.ts";
import { type Fields, fieldsOf } from "../payments/terms.ts";
import { type Charge, type Correction, chargedSoFar, type Verdict } from "../payments/verdict.ts";
import { decodeHeader } from "../payments/x402-header.ts";

const CODE = /^invalid_batch_settlement_evm_([a-z_]{1,60})$/;
const UNITS = /^(0|[1-9][0-9]{0,37})$/;
const SIGNATURE = /^0x[0-9a-f]{130}$/i;
const CONFLICT_ADVICE =
  "The service says that it charged the voucher. Nothing new is signed for this purchase today; to pay again, name a new purchase.";

export function readVoucherVerdict(entry: PaymentEntry, book: PaymentBook, response: HttpResponse): Verdict {
  const { id, state } = entry;
  if (response.status === 200) {
    const data = parseJson(response.text);
    const header = response.headers.get("payment-response");
    if (header === null || !isReadable(header))
      return { kind: "paid", data, response, transaction: null, charge: null };
    const charge = readCharge(entry, book, header);
    return { kind: "paid", data, response, transaction: readTransaction(header), charge };
  }
  const error = toResponseError(response);
  const wasCharged = state === "paid" || state === "held" || state === "conflict";
  if (error.code === "PAYMENT_CONFLICT" || (response.status === 402 && wasCharged)) {
    return { kind: "conflict", error: error.forPayment(id, chargedSoFar(entry), "never", CONFLICT_ADVICE) };
  }
  if (response.status === 402) {
    // The next voucher is for the same sum, so that at most one of both is ever claimed.
    const rejected = error.forPayment(id, "unknown", "sign-again");
    return { kind: "rejected", error: rejected, correction: readCorrection(entry, response) };
  }
  const isClientError = error.status !== null && error.status < 500 && error.retry === "never";
  const isOwn = readServiceCode(response.headers) !== null;
  if (isClientError && isOwn && !wasCharged) {
    return { kind: "rejected", error: error.forPayment(id, "unknown", "never"), correction: null };
  }
  const retry = isClientError ? "never" : "same-signature";
  return { kind: "open", error: error.forPayment(id, chargedSoFar(entry), retry) };
}

/** False for text that says nothing: what was bought is there. */
function isReadable(header: string): boolean {
  try {
    return decodeHeader(header, "PAYMENT-RESPONSE") !== null;
  } catch (error) {
    if (error instanceof SextantError) return false;
    throw error;
  }
}

/** Reads what the service says that it charged, and in what it contradicts what was signed. */
function readCharge(entry: PaymentEntry, book: PaymentBook, header: string): Charge | null {
  const { chargedAmount, channelState } = fieldsOf(decodeHeader(header, "PAYMENT-RESPONSE").extra);
  const { chargedCumulativeAmount, totalClaimed } = fieldsOf(channelState);
  const [amount, total, claimed] = [chargedAmount, chargedCumulativeAmount, totalClaimed].map(readUnits);
  if (amount === null || amount === undefined || total === null || total === undefined) return null;
  const channel = book.channels.get(entry.voucher?.channel ?? "");
  const signed = channel?.signed ?? BigInt(entry.voucher?.cumulative ?? 0);
  let lie: string | null = null;
  if (amount > BigInt(entry.requirements.amount)) lie = "it charged more than the price";
  else if (total > signed) lie = "it charged more in all than was signed";
  else if (claimed !== null && claimed !== undefined && claimed > signed)
    lie = "it claimed more than was signed";
  else if (amount > 0n && isSoldTwice(entry, channel, total)) lie = "it charged one purchase twice";
  else if (amount === 0n && isChargedAsFree(entry, book, total))
    lie = "it charged a call that it states as free";
  return { amount: amount.toString(), total: total.toString(), lie };
}

/** The voucher was charged for what an older one has paid. */
function isSoldTwice({ voucher }: PaymentEntry, channel: ChannelEntry | null, total: bigint): boolean {
  if (voucher === undefined || channel === null || !channel.received.has(voucher.name)) return false;
  return total > channel.delivered && BigInt(voucher.cumulative) > channel.delivered;
}

/** The sum is above what was delivered, and no voucher whose response was lost can have paid it but this one. */
function isChargedAsFree({ id, voucher }: PaymentEntry, book: PaymentBook, total: bigint): boolean {
  const channel = book.channels.get(voucher?.channel ?? "");
  if (voucher === undefined || channel === null || total <= channel.delivered) return false;
  const { received, isSumKnown } = channel;
  // The sum of a purchase that was delivered before does not grow.
  if (!isSumKnown || received.has(voucher.name)) return false;
  const isOwed = (each: PaymentEntry) => {
    if (each.id === id || each.voucher?.channel !== channel.id) return false;
    return BigInt(each.voucher.cumulative) === total && !received.has(each.voucher.name);
  };
  return !book.list().some(isOwed);
}

/** The state of the channel in a 402, as the service states it; null if it does not concern a sum. */
function readCorrection({ voucher }: PaymentEntry, { headers }: HttpResponse): Correction | null {
  const header = headers.get("payment-required");
  if (header === null || voucher === undefined) return null;
  const { error, accepts } = decodeHeader(header, "PAYMENT-REQUIRED");
  const [, reason = ""] = CODE.exec(String(error)) ?? [];
  if (reason === "cumulative_exceeds_balance" || reason === "channel_not_found") {
    return { kind: "uncovered" };
  }
  if (reason !== "cumulative_amount_mismatch") return null;
  const extras = (Array.isArray(accepts) ? accepts : []).map((each) => fieldsOf(fieldsOf(each).extra));
  const extra = extras.find(({ channelState }) => fieldsOf(channelState).channelId === voucher.channel) ?? {};
  const charged = readUnits(fieldsOf(extra.channelState).chargedCumulativeAmount);
  return { kind: "sum", charged, proof: readProof(fieldsOf(extra.voucherState)) };
}

function readProof({ signedMaxClaimable, signature }: Fields) {
  const signed = readUnits(signedMaxClaimable);
  if (signed === null || typeof signature !== "string" || !SIGNATURE.test(signature)) return null;
  return { signed, signature: signature as `0x${string}` };
}

function readUnits(value: unknown): bigint | null {
  return typeof value === "string" && UNITS.test(value) ? BigInt(value) : null;
}

/** The end of a sentence about a channel that is disputed. */
export const WAY_OUT =
  "with guard.node, channels.withdraw takes back what is left, and channels.list then shows it closed";

/** Nothing more is signed for the channel. */
export function disputeError(entry: PaymentEntry, problem: string): SextantError {
  const text = `The service contradicts what was signed: ${problem}. Nothing more is signed for channel ${entry.voucher?.channel}; ${WAY_OUT}.`;
  return new SextantError("TERMS_REJECTED", text).forPayment(entry.id, "unknown", "never");
}
