// The outcome of payloads that were sent: read from the chain, written into the records.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { SettlementKey, SettlementRecord, SettlementRecords } from "./settlement-records.ts";
import type { TransactionLookup, TransactionStatus } from "./transaction-lookup.ts";

export type SettlementOutcomes = {
  /** The transaction that carried out a payload and is still on chain; null without one. */
  findSuccess(record: SettlementRecord): Promise<Hex | null>;
  /** Records a mined revert and whether it blocks its payer. */
  recordRevert(payment: SettlementKey & { readonly isContract: boolean }, transaction: Hex): Promise<void>;
  /** True while any transaction of a payload may still be mined; changes no record. */
  mayBeMined(record: SettlementRecord): Promise<boolean>;
  /** True while the newest transaction of a payload may still be mined. */
  isNewestPending(record: SettlementRecord): Promise<boolean>;
};

// By then its account nonce has been used for another transaction.
const GONE_MS = 60_000;

export function createSettlementOutcomes(options: {
  readonly records: SettlementRecords;
  readonly lookup: TransactionLookup;
  readonly clock: Clock;
}): SettlementOutcomes {
  const { records, lookup, clock } = options;
  const isPending = ({ kind }: TransactionStatus, { updatedMs }: SettlementRecord) =>
    kind === "pending" || (kind === "missing" && clock.nowMs() - updatedMs < GONE_MS);

  const recordRevert: SettlementOutcomes["recordRevert"] = async (payment, transaction) => {
    const state = await lookup.readStatus(transaction, payment);
    // A reorg may have undone it meanwhile.
    if (state.kind !== "reverted") return;
    const { network, payer, isContract } = payment;
    // Anyone may carry out an authorization: a payer whose money moved as signed is not blocked for our revert. Nor is
    // one whose transfer stayed pending until it expired because of our own fee limit.
    const blocksPayer =
      !(await lookup.hasExpiredInMempool(transaction, state.blockNumber)) &&
      !(await lookup.wasAuthorizationUsed(payment, state.blockNumber));
    // A reorg may have undone the revert and its cause while they were read.
    const now = blocksPayer ? await lookup.readStatus(transaction, payment) : state;
    if (now.kind !== "reverted" || now.blockNumber !== state.blockNumber) return;
    await records.addRevert({
      network,
      transaction,
      payer,
      isContract,
      gasUsed: state.gasUsed,
      blocksPayer,
    });
    await records.markResolved(payment);
  };

  return {
    recordRevert,
    async findSuccess(record) {
      for (const transaction of record.transactions) {
        if ((await lookup.readStatus(transaction, record)).kind !== "succeeded") continue;
        await records.markResolved(record);
        return transaction;
      }
      return null;
    },
    async mayBeMined(record) {
      const states = await Promise.all(record.transactions.map((each) => lookup.readStatus(each, record)));
      return states.some((state) => isPending(state, record));
    },
    async isNewestPending(record) {
      const [newest] = record.transactions;
      const state: TransactionStatus = newest ? await lookup.readStatus(newest, record) : { kind: "missing" };
      if (newest && state.kind === "reverted") await recordRevert(record, newest);
      if (isPending(state, record)) return true;
      if (state.kind !== "reverted") await records.markResolved(record);
      return false;
    },
  };
}
