// Reads the journal for people and programs: payments, what is left to spend, and open ones to finish.
import { SextantError } from "../errors.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import type { Paid, RequestOptions } from "../operation.ts";
import { formatUnits } from "./amount.ts";
import { proveCharge } from "./charge-proof.ts";
import { resume, toPaid } from "./finish.ts";
import type { PurchaseContext } from "./standing.ts";

/** A payment without its signature. */
export interface Payment {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The request that was paid for: a wallet's name is replaced by its address. */
  readonly url: string;
  /** The request as the caller wrote it, if it has a name; otherwise null. */
  readonly givenUrl: string | null;
  readonly purchase: string | null;
  readonly payer: string;
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Smallest units. */
  readonly amount: bigint;
  /**
   * `signed` is open: the outcome is not known, and `recover` finds it out. `rejected` is the claim of the service, and
   * counts as spent until it is `released`: the chain shows that nothing was charged. `held` is paid, and the next call for
   * the same gets the response.
   */
  readonly state: "signed" | "paid" | "held" | "rejected" | "conflict" | "released";
  readonly transaction: string | null;
  /** The channel that it is paid by, whose deposit counts as spent in its place; null for a transfer. */
  readonly channel: string | null;
}

/** Decimal text in the token of the guard. */
export interface Budget {
  readonly spent: { readonly hour: string; readonly day: string; readonly total: string };
  readonly limits: { readonly hour: string; readonly day: string; readonly total: string };
}

/** The outcome of a payment: what was bought, or why it is still open or over. Neither if its amount was released. */
export interface Recovered {
  readonly payment: Payment;
  readonly result: Paid<unknown> | null;
  readonly error: SextantError | null;
}

export interface Payments {
  /**
   * All payments of the journal, oldest first.
   *
   * @example
   * ```ts
   * for (const { url, state, transaction } of await sextant.payments.list()) console.log(state, url, transaction);
   * ```
   */
  list(): Promise<readonly Payment[]>;
  /**
   * Returns what was spent or is reserved, and the limits of the guard.
   *
   * @example
   * ```ts
   * const { spent, limits } = await sextant.payments.budget();
   * ```
   */
  budget(): Promise<Budget>;
  /**
   * Sends the signature of every open payment again, such as after a crash. Nothing new is signed. With `guard.node` it
   * then releases the amounts of expired signatures that the chain shows unused. When the signal aborts, the payments that
   * are left stay open, and have the error `ABORTED`.
   *
   * @example
   * ```ts
   * for (const { payment, result } of await sextant.payments.recover()) if (result) console.log(payment.url, result.data);
   * ```
   */
  recover(options?: RequestOptions): Promise<readonly Recovered[]>;
  /**
   * The response of a payment once more, which the service stores for a day. Charges nothing new.
   *
   * @example
   * ```ts
   * const { data } = await sextant.payments.replay(receipt.payment);
   * ```
   */
  replay(id: string, options?: RequestOptions): Promise<Paid<unknown>>;
}

export function createPayments(context: PurchaseContext): Payments {
  const { journal, guard, now } = context;
  const format = (units: bigint) => formatUnits(units, guard.decimals);
  return {
    list: async () => (await journal.read()).list().map(toPayment),
    async budget() {
      const { hour, day, total } = (await journal.read()).spent(guard, now());
      const { limits } = guard;
      return {
        spent: { hour: format(hour), day: format(day), total: format(total) },
        limits: { hour: format(limits.perHour), day: format(limits.perDay), total: format(limits.total) },
      };
    },
    async recover({ signal } = {}) {
      const open = (await journal.read()).list().filter(({ state }) => state === "signed");
      const recovered: Recovered[] = [];
      // One after another: a service that is down is not asked by hundreds at once.
      for (const entry of open) recovered.push(await recoverOne(context, entry, signal));
      return [...recovered, ...(await askChain(context, signal))];
    },
    async replay(id, { signal } = {}) {
      const entry = (await journal.read()).get(id);
      if (entry === null) throw new SextantError("NOT_FOUND", "The journal has no such payment.");
      const verdict = await resume(context, entry, { signal });
      if (verdict.kind === "paid") return toPaid(entry, verdict);
      throw verdict.error;
    },
  };
}

/** Never throws for one payment: the others are to be finished as well. */
async function recoverOne(
  context: PurchaseContext,
  entry: PaymentEntry,
  signal: AbortSignal | undefined,
): Promise<Recovered> {
  if (signal?.aborted) {
    const error = new SextantError("ABORTED", "The recovery was ended before this payment.");
    const open = error.forPayment(entry.id, "unknown", "same-signature");
    return { payment: toPayment(entry), result: null, error: open };
  }
  const verdict = await attempt(() => resume(context, entry, { signal }));
  if (verdict instanceof SextantError) return { payment: toPayment(entry), result: null, error: verdict };
  const payment = toPayment((await context.journal.read()).get(entry.id) ?? entry);
  return verdict.kind === "paid"
    ? { payment, result: toPaid(entry, verdict), error: null }
    : { payment, result: null, error: verdict.error };
}

/**
 * Asks the node about signatures that have expired and were not paid, one after another. Releases those that were not
 * charged, and sends those once more that were charged although the service said that it rejects them.
 */
async function askChain(
  context: PurchaseContext,
  signal: AbortSignal | undefined,
): Promise<readonly Recovered[]> {
  const { journal, guard, transport, now } = context;
  const { node, network } = guard;
  if (node === null) return [];
  const settled: Recovered[] = [];
  for (const entry of (await journal.read()).list()) {
    const { id, state, validBefore, requirements, voucher } = entry;
    const isCandidate =
      voucher === undefined && state !== "paid" && state !== "released" && requirements.network === network;
    if (!isCandidate || now() < validBefore * 1_000) continue;
    const record = { type: "released", id, at: now(), transaction: null, code: null } as const;
    const proof = await attempt(async () => {
      const found = await proveCharge(transport, { node, signal }, entry);
      // Not durable: if it is lost, it is proven once more.
      if (found === "released") await journal.exclusive((_, append) => append(record, { durable: false }));
      return found;
    });
    // A node or journal that fails for one payment fails for all.
    if (proof instanceof SextantError) {
      // Ended by the caller: the others are as before, and the next recovery asks again.
      if (signal?.aborted) return settled;
      const error = proof.forPayment(id, "unknown", proof.retry);
      return [...settled, { payment: toPayment(entry), result: null, error }];
    }
    if (proof === "released") settled.push({ payment: toPayment(entry), result: null, error: null });
    if (proof === "charged" && state === "rejected") settled.push(await recoverOne(context, entry, signal));
  }
  return settled;
}

/** A failure of ours as a value: what was recovered before must not be lost for it. */
async function attempt<T>(act: () => Promise<T>): Promise<T | SextantError> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SextantError) return error;
    throw error;
  }
}

function toPayment(entry: PaymentEntry): Payment {
  const { id, at, url, given, purchase, payer, requirements, state, transaction, voucher } = entry;
  const { network, asset, payTo, amount } = requirements;
  return {
    id,
    at,
    url,
    givenUrl: given?.url ?? null,
    purchase,
    payer,
    network,
    asset,
    payTo,
    amount: BigInt(amount),
    state,
    transaction,
    channel: voucher?.channel ?? null,
  };
}
