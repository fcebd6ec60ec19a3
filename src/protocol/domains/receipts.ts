// Receipts of paid quotes, and their fulfilment. CommerceRegistry → receipts, and their volumes over time and by party.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { addAmounts, insert, update } from "../../schema/change.ts";
import { address, bytes32, orNull, uint16, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, amountOfToken, hashPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable, ZERO_HASH } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
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
import { quotes } from "./quotes.ts";

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
