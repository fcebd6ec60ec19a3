// What became of payloads that were sent: read from the chain, written into the records.
import type { Clock } from "../../kit/clock.ts";
import type { Hex } from "../../kit/hex.ts";
import type { SettlementKey, SettlementRecord, SettlementRecords } from "./settlement-records.ts";
import type { TransactionLookup } from "./transaction-lookup.ts";

export type SettlementOutcomes = {
  /** The transaction by which a payload was carried out and still is; null without one. */
  findSuccess(record: SettlementRecord): Promise<Hex | null>;
  /** Records a mined revert and whether its payer is to blame. */
  noteRevert(payment: SettlementKey & { readonly isContract: boolean }, transaction: Hex): Promise<void>;
  /** True while the newest transaction of a payload may still be mined. */
  isStillOpen(record: SettlementRecord): Promise<boolean>;
};

// By then its account nonce has been used for another transaction.
const GONE_MS = 60_000;

export function createSettlementOutcomes(options: {
  readonly records: SettlementRecords;
  readonly lookup: TransactionLookup;
  readonly clock: Clock;
}): SettlementOutcomes {
  const { records, lookup, clock } = options;

  const noteRevert: SettlementOutcomes["noteRevert"] = async (payment, transaction) => {
    const state = await lookup.stateOf(transaction, payment);
    // A reorg may have undone it meanwhile.
    if (state.kind !== "reverted") return;
    const { network, payer, isContract } = payment;
    // Anyone may carry an authorization out: a payer whose money moved as signed is not to blame for our revert.
    const barsPayer = !(await lookup.wasCarriedOut(payment, state.blockNumber));
    await records.addRevert({ network, transaction, payer, isContract, gasUsed: state.gasUsed, barsPayer });
    await records.close(payment);
  };

  return {
    noteRevert,
    async findSuccess(record) {
      for (const transaction of record.transactions) {
        if ((await lookup.stateOf(transaction, record)).kind !== "succeeded") continue;
        await records.close(record);
        return transaction;
      }
      return null;
    },
    async isStillOpen(record) {
      const [newest] = record.transactions;
      const kind = newest ? (await lookup.stateOf(newest, record)).kind : "missing";
      if (newest && kind === "reverted") await noteRevert(record, newest);
      if (kind === "waiting" || (kind === "missing" && clock.nowMs() - record.updatedMs < GONE_MS))
        return true;
      if (kind !== "reverted") await records.close(record);
      return false;
    },
  };
}
