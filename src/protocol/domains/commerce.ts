// Quotes, terms that a merchant commits to, their settlements, receipts and disputes, and trust signals: each event → rows of its table.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import { addAmounts, type Change, insert, update, upsert } from "../../schema/change.ts";
import { address, bool, boundedText, bytes32, orNull, uint16, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, amountOfToken, hashPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineRollup, defineTable, ZERO_HASH } from "../../schema/table.ts";
import { countActivity, countHour } from "./activity.ts";
import {
  addCommerceTotals,
  addSettledReceipt,
  countDelta,
  facilitatorFlows,
  merchantFlows,
  merchantRecords,
  payerFlows,
  volumeSeries,
} from "./commerce-totals.ts";

export const quotes = defineTable(
  "quotes",
  {
    quote_hash: bytes32,
    merchant_id: uint256,
    service_numeric_id: uint256,
    agent: address,
    token: address,
    facilitator: address,
    amount: uint256,
    payment_rail: uint16,
    protocol_fee_bps: uint16,
    protocol_fee_amount: uint256,
    expires_at: uint256,
    payment_nonce: uint256,
    resource_hash: bytes32,
    terms_hash: bytes32,
    x402_payload_hash: bytes32,
    settled: bool,
  },
  { key: ["quote_hash"] },
);

export const quotesDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [quotes],
  events: {
    // The live deployment lets a merchant commit the same terms again, which makes the quote payable again.
    QuoteCommitted: {
      requiredRows: ({ args }) => [requireRow(quotes, { quote_hash: args.quoteHash })],
      fold: ({ args, timestamp, find }) => {
        const before = find(quotes, { quote_hash: args.quoteHash });
        return [
          upsert(quotes, {
            quote_hash: args.quoteHash,
            merchant_id: args.merchantId,
            service_numeric_id: args.serviceNumericId,
            agent: args.agent,
            token: args.token,
            facilitator: args.facilitator,
            amount: args.amount,
            payment_rail: args.paymentRail,
            protocol_fee_bps: args.protocolFeeBps,
            protocol_fee_amount: args.protocolFeeAmount,
            expires_at: args.expiresAt,
            payment_nonce: args.paymentNonce,
            resource_hash: args.resourceHash,
            terms_hash: args.termsHash,
            x402_payload_hash: args.x402PayloadHash,
            settled: false,
          }),
          ...(before
            ? [addCommerceTotals({ settled_quotes: before.settled ? -1n : 0n })]
            : [
                addCommerceTotals({
                  quotes: 1n,
                  quoted_volume: args.amount,
                  quoted_protocol_fees: args.protocolFeeAmount,
                }),
                countHour(timestamp, { quotes: 1n }),
              ]),
        ];
      },
      explain: ({ args }) =>
        sentence`Quote ${recordPart("quote", args.quoteHash)} committed by merchant ${recordPart("merchant", args.merchantId)} for service ${recordPart("service", args.serviceNumericId)}: ${amountOfToken(args.amount, args.token)} from ${addressPart(args.agent)}`,
    },
  },
});

// Nothing in the event is unique (the same instruction may be executed twice), so its position in the chain is the key.
export const settlements = defineTable(
  "settlements",
  {
    settlement_id: boundedText,
    quote_hash: bytes32,
    settlement_plan_hash: bytes32,
    payer: address,
    token: address,
    gross_amount: uint256,
    execution_hash: bytes32,
  },
  { key: ["settlement_id"] },
);

export const settlementsDomain = defineDomain({
  contract: "SettlementAdapter",
  abi: settlementAdapterAbi,
  tables: [settlements],
  events: {
    SettlementExecuted: {
      fold: ({ args, txHash, logIndex }) => [
        insert(settlements, {
          settlement_id: `${txHash}-${logIndex}`,
          quote_hash: args.quoteHash,
          settlement_plan_hash: args.settlementPlanHash,
          payer: args.payer,
          token: args.token,
          gross_amount: args.grossAmount,
          execution_hash: args.executionHash,
        }),
      ],
      explain: ({ args }) =>
        sentence`Quote ${recordPart("quote", args.quoteHash)} settled by ${addressPart(args.payer)}: ${amountOfToken(args.grossAmount, args.token)}`,
    },
  },
});

export const receipts = defineTable(
  "receipts",
  {
    receipt_id: uint256,
    quote_hash: bytes32,
    agent: address,
    merchant_id: uint256,
    service_numeric_id: uint256,
    token: address,
    amount: uint256,
    payment_rail: uint16,
    protocol_fee_bps: uint16,
    protocol_fee_amount: uint256,
    facilitator: address,
    result_hash: bytes32,
    resource_hash: bytes32,
    fulfillment_hash: orNull(bytes32),
  },
  {
    key: ["receipt_id"],
    countsUp: true,
    index: [
      ["agent", "receipt_id"],
      ["merchant_id", "receipt_id"],
      ["service_numeric_id", "receipt_id"],
      ["facilitator", "receipt_id"],
      ["token", "receipt_id"],
      ["quote_hash", "receipt_id"],
    ],
  },
);

/** The contract uses the zero hash for "not fulfilled". */
const fulfilment = (hash: string): string | null => (hash === ZERO_HASH ? null : hash);

export const receiptsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [receipts, volumeSeries, merchantFlows, payerFlows, facilitatorFlows],
  events: {
    ReceiptRecorded: {
      fold: ({ args, timestamp }) => {
        const receipt = {
          receipt_id: args.receiptId,
          quote_hash: args.quoteHash,
          agent: args.agent,
          merchant_id: args.merchantId,
          service_numeric_id: args.serviceNumericId,
          token: args.token,
          amount: args.amount,
          payment_rail: args.paymentRail,
          protocol_fee_bps: args.protocolFeeBps,
          protocol_fee_amount: args.protocolFeeAmount,
          facilitator: args.facilitator,
          result_hash: args.resultHash,
          resource_hash: args.resourceHash,
          fulfillment_hash: fulfilment(args.fulfillmentHash),
        };
        const fulfilled = countDelta(false, receipt.fulfillment_hash !== null);
        return [
          insert(receipts, receipt),
          update(quotes, { quote_hash: args.quoteHash }, { settled: true }),
          addCommerceTotals({ settled_quotes: 1n }),
          ...addSettledReceipt(receipt, timestamp),
          countHour(timestamp, { receipts: 1n }),
          addAmounts(merchantRecords, { merchant_id: args.merchantId }, { fulfilled_receipts: fulfilled }),
        ];
      },
      explain: ({ args }) =>
        sentence`Receipt ${recordPart("receipt", args.receiptId)} recorded: ${addressPart(args.agent)} paid merchant ${recordPart("merchant", args.merchantId)} ${amountOfToken(args.amount, args.token)}`,
    },
    // Repeatable: the last one counts, and a zero hash revokes the fulfilment.
    FulfillmentRecorded: {
      requiredRows: ({ args }) => [requireRow(receipts, { receipt_id: args.receiptId })],
      fold: ({ args, find }) => {
        const before = find(receipts, { receipt_id: args.receiptId });
        if (!before) throw new Error(`receipt ${args.receiptId} is fulfilled, but was never recorded`);
        const fulfillment_hash = fulfilment(args.fulfillmentHash);
        const fulfilled_receipts = countDelta(before.fulfillment_hash !== null, fulfillment_hash !== null);
        return [
          update(receipts, { receipt_id: args.receiptId }, { fulfillment_hash }),
          addAmounts(merchantRecords, { merchant_id: before.merchant_id }, { fulfilled_receipts }),
        ];
      },
      explain: ({ args }) =>
        sentence`Fulfilment of receipt ${recordPart("receipt", args.receiptId)} recorded as ${hashPart(args.fulfillmentHash)}`,
    },
  },
});

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

export const TRUST_SUBJECTS = ["merchant", "service", "facilitator", "agent"] as const;
const KINDS = ["Verification", "Risk", "Compliance", "Fulfillment"] as const;

export const trustSignals = defineTable(
  "trust_signals",
  {
    signal_id: uint256,
    subject_type: uint16,
    subject_id: uint256,
    kind: uint16,
    reporter: address,
    signal_hash: bytes32,
  },
  {
    key: ["signal_id"],
    countsUp: true,
    index: [
      ["subject_type", "subject_id", "signal_id"],
      ["subject_type", "signal_id"],
      ["subject_id", "signal_id"],
      ["kind", "signal_id"],
      ["reporter", "signal_id"],
    ],
  },
);

export const signalCounts = defineRollup(
  "signal_counts",
  { kind: uint16, signals: uint63 },
  { key: ["kind"] },
);

export const subjectSignalCounts = defineRollup(
  "subject_signal_counts",
  { subject_type: uint16, subject_id: uint256, kind: uint16, signals: uint63 },
  { key: ["subject_type", "subject_id", "kind"], history: "full" },
);

export const trustSignalsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [trustSignals, signalCounts, subjectSignalCounts],
  events: {
    TrustSignalRecorded: {
      fold: ({ args, timestamp }) => {
        const subject = { subject_type: args.subjectType, subject_id: args.subjectId, kind: args.kind };
        return [
          insert(trustSignals, {
            signal_id: args.signalId,
            ...subject,
            reporter: args.reporter,
            signal_hash: args.signalHash,
          }),
          addAmounts(signalCounts, { kind: args.kind }, { signals: 1n }),
          addAmounts(subjectSignalCounts, subject, { signals: 1n }),
          ...countActivity(timestamp, { trust_signals: 1n }),
        ];
      },
      explain: ({ args }) => {
        const kind = TRUST_SUBJECTS[args.subjectType];
        const subject = kind === undefined ? `#${args.subjectId}` : recordPart(kind, args.subjectId);
        return sentence`${KINDS[args.kind] ?? `Kind ${args.kind}`} signal #${String(args.signalId)} about ${kind ?? `subject type ${args.subjectType}`} ${subject} recorded by ${addressPart(args.reporter)}`;
      },
    },
  },
});
