// Bounds what payers can make the facilitator pay for transfers that revert, above all accounts with code of their own.
import type { Hex } from "../../kit/hex.ts";
import { createLimit, type Limit } from "../../kit/limit.ts";
import type { PaymentKey } from "../ledger-row.ts";
import { CONTRACT_PAYERS_PAUSED, PAYER_REFUSED } from "./facilitator.ts";
import { FacilitatorTrouble } from "./facilitator-trouble.ts";
import { authorizationId, type SettlementRecord, type SettlementRecords } from "./settlement-records.ts";

export type GuardedPayment = { readonly key: PaymentKey; readonly isContract: boolean };

export type PayerGuard = {
  /** Why this payer is not served now; null when he is. */
  refusalBeforeWork(payer: Hex): Promise<string | null>;
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
  /** Looks up what became of a payload; true while it may still be mined. */
  readonly isStillOpen: (record: SettlementRecord) => Promise<boolean>;
};

// Signatures last a minute and a transfer a block or two: those further behind would expire.
const WAITING_OF_PAYER_MAX = 4;
// Each holds one of the facilitator's settlements while it waits.
const WAITING_CONTRACTS_MAX = 40;
// A block of any chain served mines this many of ours.
const CONTRACTS_AT_ONCE_MAX = 8n;

export function createPayerGuard(options: PayerGuardOptions): PayerGuard {
  const { network, records, revertedGasMax, transferGasMax, isContract, isStillOpen } = options;
  const slots = revertedGasMax / transferGasMax;
  const contracts = createLimit({
    runningMax: Math.max(1, Number(slots < CONTRACTS_AT_ONCE_MAX ? slots : CONTRACTS_AT_ONCE_MAX)),
    waitingMax: WAITING_CONTRACTS_MAX,
  });
  const turns = new Map<Hex, Limit>();
  /** Settlements under way, and whether a contract account pays. */
  const running = new Map<string, boolean>();

  /** Gas of transactions left behind by settlements that gave up waiting, after looking up what became of them. */
  async function followUp({ key, isContract }: GuardedPayment): Promise<bigint> {
    const { payer } = key;
    let gas = 0n;
    for (const record of await records.findOpen(network, isContract ? "contracts" : { payer })) {
      if (running.has(authorizationId(record)) || !(await isStillOpen(record))) continue;
      if (isContract && record.payer === payer) {
        throw new FacilitatorTrouble("an earlier payment of this account is not mined yet");
      }
      gas += record.gas;
    }
    return gas;
  }

  async function refusalOf(payment: GuardedPayment): Promise<string | null> {
    const openGas = await followUp(payment);
    if (await records.isBarred(network, payment.key.payer)) return PAYER_REFUSED;
    if (!payment.isContract) return null;
    const reverted = await records.revertedGas(network);
    if (reverted + transferGasMax > revertedGasMax) return CONTRACT_PAYERS_PAUSED;
    const inFlight = BigInt([...running.values()].filter((isContract) => isContract).length);
    if (reverted + openGas + inFlight * transferGasMax <= revertedGasMax) return null;
    throw new FacilitatorTrouble("other contract accounts are being served");
  }

  async function admitted<T>(payment: GuardedPayment, settle: () => Promise<T>) {
    const id = authorizationId(payment.key);
    running.set(id, payment.isContract);
    try {
      const refused = await refusalOf(payment);
      return refused === null ? await settle() : { refused };
    } finally {
      running.delete(id);
    }
  }

  async function inTurn<T>(payer: Hex, task: () => Promise<T>): Promise<T> {
    const turn = turns.get(payer) ?? createLimit({ runningMax: 1, waitingMax: WAITING_OF_PAYER_MAX });
    turns.set(payer, turn);
    try {
      return await turn.run(task);
    } finally {
      if (turn.running === 0) turns.delete(payer);
    }
  }

  return {
    async refusalBeforeWork(payer) {
      const [isBarred, reverted] = await Promise.all([
        records.isBarred(network, payer),
        records.revertedGas(network),
      ]);
      if (isBarred) return PAYER_REFUSED;
      if (reverted + transferGasMax <= revertedGasMax) return null;
      return (await isContract(payer)) ? CONTRACT_PAYERS_PAUSED : null;
    },
    run(payment, settle) {
      if (!payment.isContract) return admitted(payment, settle);
      return inTurn(payment.key.payer, () => contracts.run(() => admitted(payment, settle)));
    },
  };
}
