// Merchants as answers: /merchants/:id, /merchants, and what their customers and observers made of them.

import { closedObject } from "../../schema/json-schema.ts";
import { addressParameter, boolParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter, immutableFilter } from "../../schema/reads/list.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import {
  columnFields,
  defineRecord,
  defineRecordRead,
  isValidAt,
  recordJsonSchema,
} from "../../schema/reads/record.ts";
import { toFirstRecord } from "../../schema/reads/result-rows.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { merchantRecords } from "../domains/commerce-totals.ts";
import { merchants } from "../domains/merchants.ts";
import { countsSchema, selectCountsSql } from "./counts.ts";

const merchant = defineRecord({
  name: "Merchant",
  table: merchants,
  fields: columnFields(merchants, [
    "merchant_id",
    "owner",
    "payout_address",
    "metadata_uri",
    "metadata_hash",
    "active",
    "block_number",
  ]),
});

const COMMERCE = ["receipts", "settled_volume", "fulfilled_receipts"];
const DISPUTES = ["disputes", "open_disputes", "resolved_disputes", "rejected_disputes"];
const SIGNALS = {
  type: "array",
  items: closedObject({ kind: { type: "integer" }, signals: { type: "string" } }),
};

// Signals about subjects of type 0, which are merchants.
function signalsByKind(asOf: AsOf): SqlText {
  return sql`(select coalesce(json_agg(json_build_object('kind', s.kind, 'signals', s.signals::text) order by s.signals desc, s.kind), '[]')
    from subject_signal_counts s where s.subject_type = 0 and s.subject_id = t.merchant_id and ${isValidAt("s", asOf)})`;
}

const standing = {
  commerce: { sql: () => selectCountsSql("r", COMMERCE), json: countsSchema(COMMERCE) },
  disputes: { sql: () => selectCountsSql("r", DISPUTES), json: countsSchema(DISPUTES) },
  trust_signals_by_kind: { sql: signalsByKind, json: SIGNALS },
};

const reputation = defineRecord({
  name: "MerchantReputation",
  table: merchants,
  joins: [{ table: merchantRecords, alias: "r", on: "r.merchant_id = t.merchant_id" }],
  fields: { ...merchant.fields, ...standing },
});

const byId = {
  tag: "Commerce",
  parameter: "id",
  kind: uintParameter(),
  column: "merchant_id",
  notFoundMessage: "There is no merchant with this id.",
};

const flatReputation = defineRecordRead("/merchants/:id/reputation", reputation, {
  ...byId,
  operationId: "getMerchantReputation",
  summary: "What a merchant has sold and delivered, and what is said of it",
});

const getReputation: Read = {
  ...flatReputation,
  responseSchema: {
    title: "MerchantReputation",
    ...closedObject({
      merchant: recordJsonSchema(merchant),
      commerce: standing.commerce.json,
      disputes: standing.disputes.json,
      trust_signals_by_kind: standing.trust_signals_by_kind.json,
    }),
  },
  plan(input) {
    const { sql: statement, cost } = flatReputation.plan(input);
    return {
      sql: statement,
      cost,
      assemble(answered) {
        const row = toFirstRecord(answered);
        if (!row) return null;
        const { commerce, disputes, trust_signals_by_kind, ...merchant } = row;
        return { merchant, commerce, disputes, trust_signals_by_kind };
      },
    };
  },
};

export const merchantReads = [
  defineRecordRead("/merchants/:id", merchant, {
    ...byId,
    operationId: "getMerchant",
    summary: "One merchant",
  }),
  defineList("/merchants", merchant, {
    operationId: "listMerchants",
    summary: "Merchants, by id",
    tag: "Commerce",
    key: "merchants",
    order: { direction: "asc", keys: [{ sql: "t.merchant_id", cast: "numeric" }] },
    filters: {
      owner: immutableFilter(merchants, "owner", addressParameter, "Only those of this owner."),
      active: equalsFilter("active", boolParameter, "Only those that are, or are not, active."),
    },
  }),
  getReputation,
];
