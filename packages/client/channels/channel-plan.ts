// Chooses the channel of a purchase: one that is free and holds enough, one to deposit into, or a new one.
import type { ChannelEntry } from "../journal/channel-book.ts";
import type { PaymentBook } from "../journal/payment-book.ts";
import type { SignedDeposit } from "../journal/records.ts";
import type { ChannelUse } from "../payments/standing.ts";
import type { PaymentTerms } from "../payments/terms.ts";
import { WAY_OUT } from "./voucher-verdict.ts";

/** The voucher or deposit to sign; `busy`: all channels are in use; `none`: the purchase is not paid by channel, and why. */
export type Plan =
  | { readonly kind: "voucher"; readonly channel: ChannelEntry; readonly deposit: SignedDeposit | null }
  | { readonly kind: "deposit"; readonly channel: ChannelEntry | null; readonly amount: bigint }
  | { readonly kind: "busy" }
  | { readonly kind: "none"; readonly reason: string; readonly isDisputed?: true };

/**
 * A deposit and a claim are two transactions, where transfers take one for each purchase: a channel is worth it from the
 * third purchase on.
 */
const CALLS_MIN = 3n;
/** Longer than most responses take; the voucher of a process that died is then no longer waited for. */
const BUSY_MS = 2_000;

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);

type Wish = {
  readonly terms: PaymentTerms;
  readonly payer: string;
  readonly use: ChannelUse;
  readonly nowMs: number;
  /** Without a node only the service says what a channel holds. */
  readonly hasNode: boolean;
};

export function planVoucher(book: PaymentBook, wish: Wish): Plan {
  const { terms, payer, use } = wish;
  const { amount, channel: offered } = terms;
  if (offered === null) return { kind: "none", reason: "the terms are not of a channel" };
  const own = book.channels.list().filter(({ config }) => config.payer === payer);
  const known = own.filter(({ config: { receiver, token }, network }) => {
    return network === terms.network && receiver === terms.payTo && token === terms.asset;
  });
  const disputed = known.find(({ state, reason }) => reason !== null && state !== "closed");
  if (disputed !== undefined) {
    return { kind: "none", reason: describeDispute(disputed), isDisputed: true };
  }
  const usable = known.filter(({ state, config }) => {
    const { receiverAuthorizer, withdrawDelay } = config;
    const isOffered = receiverAuthorizer === offered.receiverAuthorizer;
    return state === "open" && isOffered && withdrawDelay === offered.withdrawDelay;
  });
  const free = usable.filter((each) => !isBusy(each, wish));
  for (const channel of free) {
    const deposit = pendingDeposit(channel, wish.nowMs);
    const held = channel.balance + (deposit === null ? expected(channel) : BigInt(deposit.amount));
    if (channel.charged + amount <= held) return { kind: "voucher", channel, deposit };
  }
  if (offered.withdrawDelay > use.withdrawSecondsMax) {
    return { kind: "none", reason: `withdrawals take ${offered.withdrawDelay} seconds there` };
  }
  const waitOr = (reason: string): Plan =>
    usable.length > free.length ? { kind: "busy" } : { kind: "none", reason };
  const funded = own.filter((each) => {
    const price = known.includes(each) ? amount : BigInt(each.last?.requirements.amount ?? 1);
    const isKept = each.state === "open" || each.state === "disputed";
    return isKept && each.charged + price <= each.balance + expected(each);
  });
  if (funded.length >= use.maxOpen) {
    const what = funded.length === 1 ? "1 channel holds" : `${funded.length} channels hold`;
    return waitOr(`${what} money, as many as channel.maxOpen allows; refund or withdraw one`);
  }
  // A channel that is used up, or empty after a refund, goes on with a further deposit.
  const [channel = null] = free;
  const deposit = channel === null || channel.balance === 0n ? use.deposit : use.topUp;
  if (!wish.hasNode && unused(known) > BigInt(use.maxOpen) * maxOf(use.deposit, use.topUp)) {
    return waitOr("what was deposited there is not used up, and only guard.node shows where it is");
  }
  if (deposit >= offered.minDeposit && deposit >= CALLS_MIN * amount) {
    return { kind: "deposit", channel, amount: deposit };
  }
  return waitOr("the deposit is too small for a channel of this service");
}

/** The deposit that no response has confirmed, while it can be made: every voucher brings it along until then. */
function pendingDeposit({ deposits }: ChannelEntry, nowMs: number): SignedDeposit | null {
  const last = deposits.at(-1);
  return last?.state === "sent" && nowMs < last.validBefore * 1_000 ? last.signed : null;
}

/** Deposits whose response was lost: the service says if the channel does not hold them. */
function expected({ deposits }: ChannelEntry): bigint {
  return deposits.reduce((sum, { state, amount }) => (state === "sent" ? sum + BigInt(amount) : sum), 0n);
}

/** Deposits that nothing was delivered for, and that no chain shows as returned. */
function unused(channels: readonly ChannelEntry[]): bigint {
  const open = channels.filter(({ state }) => state !== "closed");
  return open.reduce((all, { deposits, returned, delivered }) => {
    const made = deposits.filter(({ state }) => state !== "released");
    const sum = made.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    return all + maxOf(sum - returned - delivered, 0n);
  }, 0n);
}

/** Another call or process waits for a response to its voucher. */
function isBusy({ last }: ChannelEntry, { use, nowMs }: Wish): boolean {
  if (last?.state !== "signed") return false;
  if (last.voucher?.owner === use.owner) return use.sending.has(last.id);
  return nowMs - last.at < BUSY_MS;
}

function describeDispute({ id, reason }: ChannelEntry): string {
  return `channel ${id} is disputed (${reason}), so that this payee gets nothing more; ${WAY_OUT}`;
}
