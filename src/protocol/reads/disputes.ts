// Disputes as answers: /disputes.

import { uintParameter } from "../../schema/parameter.ts";
import { defineList, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord } from "../../schema/reads/record.ts";
import { disputes } from "../domains/disputes.ts";

const dispute = defineRecord({
  name: "Dispute",
  table: disputes,
  fields: columnFields(disputes, [
    "dispute_id",
    "receipt_id",
    "opener",
    "reason_hash",
    "status",
    "resolution_hash",
    "block_number",
  ]),
});

export const disputeReads = [
  defineList("/disputes", dispute, {
    operationId: "listDisputes",
    summary: "Disputes, newest first",
    tag: "Commerce",
    key: "disputes",
    order: { direction: "desc", keys: [{ sql: "t.dispute_id", cast: "numeric" }] },
    filters: {
      receipt_id: immutableFilter(disputes, "receipt_id", uintParameter(), "Only those about this receipt."),
    },
  }),
];
