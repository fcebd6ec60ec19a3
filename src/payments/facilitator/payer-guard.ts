// Bounds what payers can make the facilitator pay for transfers that revert, above all accounts with code of their own.

import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { PaymentKey } from "../ledger/row.ts";
import { CONTRACT_PAYERS_PAUSED, PAYER_REJECTED } from "../rejection-reasons.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { authorizationKeyText, type SettlementRecord, type SettlementRecords } from "./settlement-records.ts";

export type GuardedPayment = {
  readonly key: PaymentKey;
  readonly amount: bigint;
  readonly isContract: boolean;
};

export type PayerGuard = {
  /** Why this payer is not served now; null when he is. */
  findRejectionBeforeVerify(payer: Hex): Promise<string | null>;
  /** Runs a settlement of a payer, or returns the reason for which it was not begun. */
  run<T>(payment: GuardedPayment, settle: () => Promise<T>): Promise<T | { readonly refused: string }>;
};

export type PayerGuardOptions = {
  readonly network: string;
  readonly records: SettlementRecords;
  /** Gas that reverted transfers of contract accounts may cost within an hour. */
  readonly revertedGasMax: bigint;
  /** The most gas that one transfer can cost. */
  readonly transferGasMax: bigint;
  readonly isContract: (payer: Hex) => Promise<boolean>;
  readonly balanceOf: (key: Pick<PaymentKey, "asset" | "payer">) => Promise<bigint>;
  /** Looks up what became of a payload; true while it may still be mined. */
  readonly isPending: (record: SettlementRecord) => Promise<boolean>;
  readonly log: Log;
};

// Signatures last a minute and a transfer a block or two: those further behind are better sent again later.
const WAITING_OF_PAYER_MAX = 1;
// With those that run and one more of each payer, about half of the settlements that the facilitator has at once.
const WAITING_CONTRACTS_MAX = 20;
// A block of any chain served mines this many of ours.
const CONTRACTS_AT_ONCE_MAX = 8n;

export function createPayerGuard(options: PayerGuardOptions): PayerGuard {
  const {
    network,
    records,
    revertedGasMax,
    transferGasMax,
    isContract,
    balanceOf,
    isPending: isStillOpen,
    log,
  } = options;
  const slots = revertedGasMax / transferGasMax;
  const contracts = createConcurrencyLimit({
    runningMax: Math.max(1, Number(slots < CONTRACTS_AT_ONCE_MAX ? slots : CONTRACTS_AT_ONCE_MAX)),
    waitingMax: WAITING_CONTRACTS_MAX,
  });
  const turns = new Map<Hex, ConcurrencyLimit>();
  /** Settlements under way, in the order in which they began. */
  const running = new Map<string, GuardedPayment>();

  /** What can not be looked up counts as open: one account must not keep all others from being served. */
  const mayBeMined = (record: SettlementRecord) =>
    isStillOpen(record).catch((err: unknown) => {
      log.warn(
        { err, payer: record.payer, nonce: record.nonce },
        "A sent transaction could not be looked up",
      );
      return true;
    });

  /** Gas of transactions left behind by settlements that gave up waiting, after looking up what became of them. */
  async function followUp({ key, isContract }: GuardedPayment): Promise<bigint> {
    const { payer } = key;
    let gas = 0n;
    for (const record of await records.findUnresolved(network, isContract ? "contracts" : { payer })) {
      if (running.has(authorizationKeyText(record)) || !(await mayBeMined(record))) continue;
      if (isContract && record.payer === payer) {
        throw new FacilitatorUnavailableError("an earlier payment of this account is not mined yet");
      }
      gas += record.gas;
    }
    return gas;
  }

  /** Each transfer is simulated against the whole balance; what is under way before it has a claim on a part. */
  async function refuseOverdraft({ key, amount }: GuardedPayment): Promise<void> {
    const all = [...running.values()];
    const before = all.slice(
      0,
      all.findIndex((each) => each.key === key),
    );
    const claims = before.filter((each) => each.key.payer === key.payer && each.key.asset === key.asset);
    if (claims.length === 0) return;
    const wanted = claims.reduce((sum, each) => sum + each.amount, amount);
    if ((await balanceOf(key)) >= wanted) return;
    throw new FacilitatorUnavailableError("the payer's balance does not cover all that is under way");
  }

  async function refusalOf(payment: GuardedPayment): Promise<string | null> {
    const openGas = await followUp(payment);
    if (await records.isPayerBlocked(network, payment.key.payer)) return PAYER_REJECTED;
    await refuseOverdraft(payment);
    if (!payment.isContract) return null;
    const reverted = await records.sumRevertedGas(network);
    if (reverted + transferGasMax > revertedGasMax) return CONTRACT_PAYERS_PAUSED;
    const inFlight = BigInt([...running.values()].filter(({ isContract }) => isContract).length);
    if (reverted + openGas + inFlight * transferGasMax <= revertedGasMax) return null;
    throw new FacilitatorUnavailableError("other contract accounts are being served");
  }

  async function admitted<T>(payment: GuardedPayment, settle: () => Promise<T>) {
    const id = authorizationKeyText(payment.key);
    running.set(id, payment);
    try {
      const refused = await refusalOf(payment);
      return refused === null ? await settle() : { refused };
    } finally {
      running.delete(id);
    }
  }

  async function inTurn<T>(payer: Hex, task: () => Promise<T>): Promise<T> {
    const turn =
      turns.get(payer) ?? createConcurrencyLimit({ runningMax: 1, waitingMax: WAITING_OF_PAYER_MAX });
    turns.set(payer, turn);
    try {
      return await turn.run(task);
    } finally {
      if (turn.running === 0) turns.delete(payer);
    }
  }

  return {
    async findRejectionBeforeVerify(payer) {
      const [isBarred, reverted] = await Promise.all([
        records.isPayerBlocked(network, payer),
        records.sumRevertedGas(network),
      ]);
      if (isBarred) return PAYER_REJECTED;
      if (reverted + transferGasMax <= revertedGasMax) return null;
      return (await isContract(payer)) ? CONTRACT_PAYERS_PAUSED : null;
    },
    run(payment, settle) {
      if (!payment.isContract) return admitted(payment, settle);
      return inTurn(payment.key.payer, () => contracts.run(() => admitted(payment, settle)));
    },
  };
}
