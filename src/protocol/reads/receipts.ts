// Receipts as answers: /receipts.

import { addressParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord } from "../../schema/reads/record.ts";
import { receipts } from "../domains/receipts.ts";

const receipt = defineRecord({
  name: "Receipt",
  table: receipts,
  fields: columnFields(receipts, [
    "receipt_id",
    "quote_hash",
    "agent",
    "merchant_id",
    "service_numeric_id",
    "token",
    "amount",
    "payment_rail",
    "protocol_fee_bps",
    "protocol_fee_amount",
    "facilitator",
    "result_hash",
    "resource_hash",
    "fulfillment_hash",
    "block_number",
  ]),
});

export const receiptReads = [
  defineList("/receipts", receipt, {
    operationId: "listReceipts",
    summary: "Receipts, newest first",
    tag: "Commerce",
    key: "receipts",
    order: { direction: "desc", keys: [{ sql: "t.receipt_id", cast: "numeric" }] },
    filters: {
      agent: immutableFilter(receipts, "agent", addressParameter, "Only those this agent paid."),
      merchant_id: immutableFilter(receipts, "merchant_id", uintParameter(), "Only those of this merchant."),
    },
  }),
];
