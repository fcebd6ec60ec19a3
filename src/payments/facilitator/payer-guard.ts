// Bounds what payers can make the facilitator pay for transfers that revert, above all accounts with code of their own.

import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { PaymentKey } from "../ledger/row.ts";
import { CONTRACT_PAYERS_PAUSED, PAYER_REJECTED } from "../rejection-reasons.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { authorizationKeyText, type SettlementRecord, type SettlementRecords } from "./settlement-records.ts";
import type { SettlementTurns } from "./settlement-turns.ts";

type GuardedPayment = {
  readonly key: PaymentKey;
  readonly amount: bigint;
  readonly isContract: boolean;
};

type PayerGuardOptions = {
  readonly network: string;
  readonly records: SettlementRecords;
  /** Over all processes, by contract account. */
  readonly turns: SettlementTurns;
  /** Gas that reverted transfers of contract accounts may cost within an hour. */
  readonly revertedGasMax: bigint;
  /** The most gas that one transfer can cost. */
  readonly transferGasMax: bigint;
  readonly isContract: (payer: Hex) => Promise<boolean>;
  readonly balanceOf: (key: Pick<PaymentKey, "asset" | "payer">) => Promise<bigint>;
  /** Looks up the transaction of a payload; true while it may still be mined. */
  readonly isPending: (record: SettlementRecord) => Promise<boolean>;
  readonly log: Log;
};

// Signatures last a minute and a transfer a block or two: a payment further behind is better sent again later.
const WAITING_OF_PAYER_MAX = 1;
// With those in flight and one more per payer, about half of the facilitator's concurrent settlements.
const WAITING_CONTRACTS_MAX = 20;
// A block of any chain we serve can hold this many of our transfers.
const CONTRACTS_AT_ONCE_MAX = 8n;

export class PayerGuard {
  readonly #options: PayerGuardOptions;
  /** Bounds the settlements of contract accounts, in this process and over all. */
  readonly #contractSlots: ConcurrencyLimit;
  readonly #slotNames: readonly string[];
  /** One settlement at a time per contract account, in this process. */
  readonly #turns = new Map<Hex, ConcurrencyLimit>();
  /** Settlements in flight, in the order in which they started. */
  readonly #inFlight = new Map<string, GuardedPayment>();

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
    const { network, records, isContract, transferGasMax, revertedGasMax } = this.#options;
    const [isBlocked, reverted] = await Promise.all([
      records.isPayerBlocked(network, payer),
      records.sumRevertedGas(network),
    ]);
    if (isBlocked) return PAYER_REJECTED;
    if (reverted + transferGasMax <= revertedGasMax) return null;
    return (await isContract(payer)) ? CONTRACT_PAYERS_PAUSED : null;
  }

  /** Runs a settlement, or returns the reason for which it was not started. */
  run<T>(payment: GuardedPayment, settle: () => Promise<T>): Promise<T | { readonly rejected: string }> {
    if (!payment.isContract) return this.#runAdmitted(payment, settle);
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
    const id = authorizationKeyText(payment.key);
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
    const { network, records, transferGasMax, revertedGasMax } = this.#options;
    const pendingGas = await this.#resolveEarlierTransactions(payment);
    if (await records.isPayerBlocked(network, payment.key.payer)) return PAYER_REJECTED;
    await this.#assertBalanceCoversInFlight(payment);
    if (!payment.isContract) return null;
    const reverted = await records.sumRevertedGas(network);
    if (reverted + transferGasMax > revertedGasMax) return CONTRACT_PAYERS_PAUSED;
    const contracts = [...this.#inFlight.values()].filter(({ isContract }) => isContract);
    const inFlightGas = BigInt(contracts.length) * transferGasMax;
    if (reverted + pendingGas + inFlightGas <= revertedGasMax) return null;
    throw new FacilitatorUnavailableError("other contract accounts are being served");
  }

  /** Looks up transactions whose settlement stopped waiting; returns the gas of those that may still be mined. */
  async #resolveEarlierTransactions({ key, isContract }: GuardedPayment): Promise<bigint> {
    const { network, records } = this.#options;
    const { payer } = key;
    let gas = 0n;
    for (const record of await records.findUnresolved(network, isContract ? "contracts" : { payer })) {
      if (this.#inFlight.has(authorizationKeyText(record)) || !(await this.#mayBeMined(record))) continue;
      if (isContract && record.payer === payer) {
        throw new FacilitatorUnavailableError("an earlier payment of this account is not mined yet");
      }
      gas += record.gas;
    }
    return gas;
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

  /** Each transfer is simulated against the whole balance, of which earlier ones in flight need a part. */
  async #assertBalanceCoversInFlight({ key, amount }: GuardedPayment): Promise<void> {
    const all = [...this.#inFlight.values()];
    const earlier = all.slice(
      0,
      all.findIndex((each) => each.key === key),
    );
    const claims = earlier.filter((each) => each.key.payer === key.payer && each.key.asset === key.asset);
    if (claims.length === 0) return;
    const needed = claims.reduce((sum, each) => sum + each.amount, amount);
    if ((await this.#options.balanceOf(key)) >= needed) return;
    throw new FacilitatorUnavailableError("the payer's balance does not cover all payments in flight");
  }
}
