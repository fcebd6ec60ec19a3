// Bounds what payers can make the facilitator pay for transfers that revert, above all accounts with code of their own.

import type { Clock } from "../../lib/clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import { type PaymentKey, paymentKeyText } from "../ledger/row.ts";
import { CONTRACT_PAYERS_PAUSED, PAYER_REJECTED } from "../rejection-reasons.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import type { SettlementTurns } from "./key-claim.ts";
import type {
  ContractStanding,
  RevertedGas,
  SettlementKey,
  SettlementRecord,
  SettlementRecords,
} from "./settlement-records.ts";

type GuardedPayment = {
  readonly key: SettlementKey;
  readonly amount: bigint;
  /** Null for an account without code. */
  readonly codeHash: Hex | null;
};

/** Transactions that may take a payer's money, or our gas, besides the payment that is to start. */
type PaymentsInFlight = {
  /** Settlements that this process was already waiting for. */
  readonly earlier: readonly GuardedPayment[];
  readonly pending: readonly SettlementRecord[];
};

type PayerGuardOptions = {
  readonly network: string;
  readonly records: Pick<
    SettlementRecords,
    | "isPayerBlocked"
    | "sumRevertedGas"
    | "findContractStanding"
    | "addContractPayer"
    | "addReservation"
    | "findUnresolved"
  >;
  /** Over all processes, by contract account. */
  readonly turns: SettlementTurns;
  /** Gas that reverted transfers of contract accounts may cost within an hour, by budget (RevertedGas). */
  readonly revertedGasMax: bigint;
  /** The most gas that one transfer can cost. */
  readonly transferGasMax: bigint;
  /** Null for an account without code. */
  readonly readCodeHash: (payer: Hex) => Promise<Hex | null>;
  readonly balanceOf: (key: Pick<PaymentKey, "asset" | "payer">) => Promise<bigint>;
  /** Looks up the transaction of a payload; true while it may still be mined. */
  readonly isPending: (record: SettlementRecord) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
};

// A process waits this long for a transfer that it sent, and records what became of it.
const WATCHED_MS = 15_000;
// A payer with more than that in flight at other processes makes us look up no more of them, the oldest first.
const LOOKUPS_MAX = 20;
// Signatures last a minute and a transfer a block or two: a payment further behind is better sent again later.
const WAITING_OF_PAYER_MAX = 1;
// With those in flight and one more per payer, about half of the facilitator's concurrent settlements.
const WAITING_CONTRACTS_MAX = 20;
// A block of any chain we serve can hold this many of our transfers.
const CONTRACTS_AT_ONCE_MAX = 8n;
// Codes whose accounts may use up an hour's gas before no new account of a known code is served. To make a code known,
// an account must have paid.
const KNOWN_CODES_MAX = 4n;

export class PayerGuard {
  readonly #options: PayerGuardOptions;
  /** Bounds the settlements of contract accounts, in this process and over all. */
  readonly #contractSlots: ConcurrencyLimit;
  readonly #slotNames: readonly string[];
  /** One settlement at a time per contract account, in this process. */
  readonly #turns = new Map<Hex, ConcurrencyLimit>();
  /** Settlements in flight, in the order in which they started. */
  readonly #inFlight = new Map<string, GuardedPayment>();
  /** The subset that the records have, or had until the outcome was known. */
  readonly #reserved = new WeakSet<GuardedPayment>();

  constructor(options: PayerGuardOptions) {
    this.#options = options;
    const affordable = options.revertedGasMax / options.transferGasMax;
    const slots = affordable < CONTRACTS_AT_ONCE_MAX ? affordable : CONTRACTS_AT_ONCE_MAX;
    const runningMax = Math.max(1, Number(slots));
    this.#contractSlots = createConcurrencyLimit({ runningMax, waitingMax: WAITING_CONTRACTS_MAX });
    this.#slotNames = Array.from({ length: runningMax }, (_, i) => `${options.network} contract slot ${i}`);
  }

  /** Why payments of this payer are rejected now; null when they are not. */
  async findRejectionBeforeVerify(payer: Hex): Promise<string | null> {
    const { network, records, readCodeHash } = this.#options;
    const [isBlocked, reverted] = await Promise.all([
      records.isPayerBlocked(network, payer),
      records.sumRevertedGas(network, null),
    ]);
    if (isBlocked) return PAYER_REJECTED;
    if (this.#hasGasFor("unknown code", reverted)) return null;
    const codeHash = await readCodeHash(payer);
    if (codeHash === null) return null;
    const standing = await records.findContractStanding({ network, payer, codeHash });
    const revertedNow = await records.sumRevertedGas(network, codeHash);
    return this.#hasGasFor(standing, revertedNow) ? null : CONTRACT_PAYERS_PAUSED;
  }

  /** A proven account has paid for its one revert: afterwards it is blocked, and no longer proven. */
  #hasGasFor(standing: ContractStanding, reverted: RevertedGas, inFlightGas = 0n): boolean {
    const { transferGasMax, revertedGasMax } = this.#options;
    const fits = (used: bigint, gasMax: bigint) => used + inFlightGas + transferGasMax <= gasMax;
    switch (standing) {
      case "proven":
        return transferGasMax <= revertedGasMax;
      case "known code":
        return (
          fits(reverted.ofThisCode, revertedGasMax) &&
          fits(reverted.ofKnownCode, KNOWN_CODES_MAX * revertedGasMax)
        );
      case "unknown code":
        return fits(reverted.ofUnknownCode, revertedGasMax);
    }
  }

  /** Runs a settlement, or returns the reason for which it was not started. */
  run<T>(payment: GuardedPayment, settle: () => Promise<T>): Promise<T | { readonly rejected: string }> {
    if (payment.codeHash === null) return this.#runAdmitted(payment, settle);
    const { network, turns } = this.#options;
    const { payer } = payment.key;
    return this.#runOneAtATime(payer, () =>
      this.#contractSlots.run(() =>
        turns.run([`${network} contract ${payer}`], () =>
          turns.run(this.#slotNames, () => this.#runAdmitted(payment, settle)),
        ),
      ),
    );
  }

  async #runAdmitted<T>(
    payment: GuardedPayment,
    settle: () => Promise<T>,
  ): Promise<T | { readonly rejected: string }> {
    const id = paymentKeyText(payment.key);
    this.#inFlight.set(id, payment);
    try {
      const rejected = await this.#findRejection(payment);
      return rejected === null ? await settle() : { rejected };
    } finally {
      this.#inFlight.delete(id);
    }
  }

  async #runOneAtATime<T>(payer: Hex, task: () => Promise<T>): Promise<T> {
    const turn =
      this.#turns.get(payer) ?? createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_OF_PAYER_MAX });
    this.#turns.set(payer, turn);
    try {
      return await turn.run(task);
    } finally {
      if (turn.running === 0) this.#turns.delete(payer);
    }
  }

  async #findRejection(payment: GuardedPayment): Promise<string | null> {
    const { network, records } = this.#options;
    const { key, amount, codeHash } = payment;
    // Before others are read: of two processes at once, at least one finds the payment of the other.
    if (codeHash === null) {
      await records.addReservation({ ...key, amount });
      this.#reserved.add(payment);
    }
    const inFlight = await this.#findInFlight(payment);
    if (await records.isPayerBlocked(network, key.payer)) return PAYER_REJECTED;
    await this.#assertBalanceCoversInFlight(payment, inFlight);
    return codeHash === null ? null : this.#findContractRejection(key.payer, codeHash, inFlight);
  }

  async #findContractRejection(
    payer: Hex,
    codeHash: Hex,
    { pending }: PaymentsInFlight,
  ): Promise<string | null> {
    const { network, records, transferGasMax } = this.#options;
    const standing = await records.addContractPayer({ network, payer, codeHash });
    const reverted = await records.sumRevertedGas(network, codeHash);
    if (!this.#hasGasFor(standing, reverted)) return CONTRACT_PAYERS_PAUSED;
    // Whatever their standing: it may change before they are mined.
    const others = [...this.#inFlight.values()].filter(({ codeHash }) => codeHash !== null).length - 1;
    const pendingGas = pending.reduce((sum, { gas }) => sum + gas, 0n);
    if (this.#hasGasFor(standing, reverted, pendingGas + BigInt(others) * transferGasMax)) return null;
    throw new FacilitatorUnavailableError("other contract accounts are being served");
  }

  async #findInFlight(payment: GuardedPayment): Promise<PaymentsInFlight> {
    // Before the records are read: one whose wait ends meanwhile, not mined, is then in one of the two.
    const all = [...this.#inFlight.values()];
    const earlier = all.slice(
      0,
      all.findIndex((each) => each.key === payment.key),
    );
    return { earlier, pending: await this.#findPending(payment, earlier) };
  }

  /**
   * Payments that this process does not wait for and that may still be mined: of all contract accounts, or of one plain
   * key. Looks them up, except for those of a plain key that another process waits for at the moment, or that are many.
   */
  async #findPending(
    { key, codeHash }: GuardedPayment,
    earlier: readonly GuardedPayment[],
  ): Promise<readonly SettlementRecord[]> {
    const { network, records, clock } = this.#options;
    const isContract = codeHash !== null;
    const counted = new Set(earlier.map((each) => paymentKeyText(each.key)));
    const { payer } = key;
    const pending: SettlementRecord[] = [];
    let lookups = 0;
    for (const record of await records.findUnresolved(network, isContract ? "contracts" : { payer })) {
      const id = paymentKeyText(record);
      if (this.#inFlight.has(id) || counted.has(id)) continue;
      const isWatched = clock.nowMs() - record.updatedMs < WATCHED_MS || lookups >= LOOKUPS_MAX;
      if (isContract || !isWatched) {
        lookups += 1;
        if (!(await this.#mayBeMined(record))) continue;
      }
      if (isContract && record.payer === payer) {
        throw new FacilitatorUnavailableError("an earlier payment of this account is not mined yet");
      }
      pending.push(record);
    }
    return pending;
  }

  /** A failed lookup counts as pending: one account must not stop all others from being served. */
  async #mayBeMined(record: SettlementRecord): Promise<boolean> {
    try {
      return await this.#options.isPending(record);
    } catch (err) {
      const { payer, nonce } = record;
      this.#options.log.warn(
        { component: "payments", event: "transaction_lookup_failed", err, payer, nonce },
        "Lookup of a sent transaction failed",
      );
      return true;
    }
  }

  /** Each transfer is simulated against the whole balance, of which others in flight, in any process, need a part. */
  async #assertBalanceCoversInFlight(payment: GuardedPayment, found: PaymentsInFlight): Promise<void> {
    const { key, amount } = payment;
    const isSameMoney = (other: PaymentKey) => other.payer === key.payer && other.asset === key.asset;
    const ownOf = ({ earlier }: PaymentsInFlight) => earlier.filter((each) => isSameMoney(each.key));
    const othersOf = ({ pending }: PaymentsInFlight) => pending.filter(isSameMoney);
    const covers = async (own: readonly GuardedPayment[], others: readonly SettlementRecord[]) => {
      if (own.length + others.length === 0) return true;
      const needed = [...own, ...others].reduce((sum, each) => sum + (each.amount ?? 0n), amount);
      return (await this.#options.balanceOf(key)) >= needed;
    };
    if (await covers(ownOf(found), othersOf(found))) return;
    // Some may be mined by now. The balance is read after that: the other way round, money of theirs would count. With
    // nothing else in flight, a payer without the money is rejected by the simulation, as any other is.
    const again = await this.#findInFlight(payment);
    const others = othersOf(again);
    const checked = await this.#filterPending(others.slice(0, LOOKUPS_MAX));
    const own = await this.#filterUnmined(key, ownOf(again));
    if (await covers(own, [...checked, ...others.slice(LOOKUPS_MAX)])) return;
    throw new FacilitatorUnavailableError("the payer's balance does not cover all payments in flight");
  }

  /** Settlements that this process waits for and that may still take money: a wait ends some time after its block. */
  async #filterUnmined(
    { payer }: PaymentKey,
    own: readonly GuardedPayment[],
  ): Promise<readonly GuardedPayment[]> {
    if (own.length === 0) return own;
    const { network, records } = this.#options;
    const unresolved = await records.findUnresolved(network, { payer });
    const recordOf = new Map(unresolved.map((record) => [paymentKeyText(record), record]));
    const isUnmined = await Promise.all(
      own.map(async (each, index) => {
        const record = recordOf.get(paymentKeyText(each.key));
        // Without a record it is about to begin, or its outcome is known by now.
        if (record === undefined) return !this.#reserved.has(each);
        return index >= LOOKUPS_MAX || this.#mayBeMined(record);
      }),
    );
    return own.filter((_, index) => isUnmined[index]);
  }

  async #filterPending(records: readonly SettlementRecord[]): Promise<SettlementRecord[]> {
    const mayBeMined = await Promise.all(records.map((record) => this.#mayBeMined(record)));
    return records.filter((_, index) => mayBeMined[index]);
  }
}
