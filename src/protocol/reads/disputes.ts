// Disputes as answers: /disputes.

import { uintParameter } from "../../schema/parameter.ts";
import { list, unchanging } from "../../schema/reads/list.ts";
import { columns, record } from "../../schema/reads/record.ts";
import { disputes } from "../domains/disputes.ts";

const dispute = record({
  name: "Dispute",
  table: disputes,
  fields: columns(disputes, [
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
  list("/disputes", dispute, {
    operation: "listDisputes",
    summary: "Disputes, newest first",
    tag: "Commerce",
    key: "disputes",
    order: { direction: "desc", keys: [{ sql: "t.dispute_id", cast: "numeric" }] },
    filters: {
      receipt_id: unchanging(disputes, "receipt_id", uintParameter(), "Only those about this receipt."),
    },
  }),
];
