// Disputes about receipts and their resolution. CommerceRegistry → disputes.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { addAmounts, type Change, insert, update } from "../../schema/change.ts";
import { address, boundedText, bytes32, orNull, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, hashPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import { addCommerceTotals, merchantRecords } from "./commerce-totals.ts";
import { receipts } from "./receipts.ts";

export const DISPUTE_STATUSES = ["OPEN", "RESOLVED", "REJECTED"] as const;

export const disputes = defineTable(
  "disputes",
  {
    dispute_id: uint256,
    receipt_id: uint256,
    // Copied from the receipt, so that resolving needs no lookup of the receipt.
    merchant_id: uint256,
    opener: address,
    reason_hash: bytes32,
    status: boundedText,
    resolution_hash: orNull(bytes32),
  },
  {
    key: ["dispute_id"],
    countsUp: true,
    index: [
      ["receipt_id", "dispute_id"],
      ["merchant_id", "dispute_id"],
      ["opener", "dispute_id"],
      ["status", "dispute_id"],
    ],
  },
);

type Counts = {
  disputes?: bigint;
  open_disputes?: bigint;
  resolved_disputes?: bigint;
  rejected_disputes?: bigint;
};

const COUNTER: Readonly<Record<string, "open_disputes" | "resolved_disputes" | "rejected_disputes">> = {
  OPEN: "open_disputes",
  RESOLVED: "resolved_disputes",
  REJECTED: "rejected_disputes",
};

function count(merchant_id: bigint, counts: Counts): Change[] {
  return [addCommerceTotals(counts), addAmounts(merchantRecords, { merchant_id }, counts)];
}

/** Moves one dispute between counters; the same status twice changes nothing. */
function statusCountChanges(from: string, to: string): Counts {
  const [left, entered] = [COUNTER[from], COUNTER[to]];
  if (left === entered) return {};
  return { ...(left && { [left]: -1n }), ...(entered && { [entered]: 1n }) };
}

export const disputesDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [disputes],
  events: {
    DisputeOpened: {
      requiredRows: ({ args }) => [requireRow(receipts, { receipt_id: args.receiptId })],
      fold: ({ args, timestamp, find }) => {
        const receipt = find(receipts, { receipt_id: args.receiptId });
        if (!receipt) throw new Error(`receipt ${args.receiptId} is disputed, but was never recorded`);
        return [
          insert(disputes, {
            dispute_id: args.disputeId,
            receipt_id: args.receiptId,
            merchant_id: receipt.merchant_id,
            opener: args.opener,
            reason_hash: args.reasonHash,
            status: "OPEN",
            resolution_hash: null,
          }),
          ...count(receipt.merchant_id, { disputes: 1n, open_disputes: 1n }),
          countHour(timestamp, { disputes: 1n }),
        ];
      },
      explain: ({ args }) =>
        sentence`Dispute ${recordPart("dispute", args.disputeId)} opened by ${addressPart(args.opener)} about receipt ${recordPart("receipt", args.receiptId)}`,
    },
    // The live deployment lets a dispute be resolved again: the last resolution counts.
    DisputeResolved: {
      requiredRows: ({ args }) => [requireRow(disputes, { dispute_id: args.disputeId })],
      fold: ({ args, find }) => {
        const before = find(disputes, { dispute_id: args.disputeId });
        if (!before) throw new Error(`dispute ${args.disputeId} is resolved, but was never opened`);
        const status = DISPUTE_STATUSES[args.status] ?? `STATUS_${args.status}`;
        return [
          update(disputes, { dispute_id: args.disputeId }, { status, resolution_hash: args.resolutionHash }),
          ...count(before.merchant_id, statusCountChanges(before.status, status)),
        ];
      },
      explain: ({ args }) =>
        sentence`Dispute ${recordPart("dispute", args.disputeId)} ${args.status === 2 ? "rejected" : "resolved"} with ${hashPart(args.resolutionHash)}`,
    },
  },
});
