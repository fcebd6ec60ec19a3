// Merchants as answers: /merchants/:id, /merchants, and what their customers and observers made of them.

import { closedObject } from "../../schema/json-schema.ts";
import { addressParameter, boolParameter, uintParameter } from "../../schema/parameter.ts";
import { equals, list, unchanging } from "../../schema/reads/list.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import { columns, one, record, schemaOf, valid } from "../../schema/reads/record.ts";
import { firstRecord } from "../../schema/reads/result-rows.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import { merchantRecords } from "../domains/commerce-totals.ts";
import { merchants } from "../domains/merchants.ts";
import { countSchema, stringCounts } from "./counts.ts";

const merchant = record({
  name: "Merchant",
  table: merchants,
  fields: columns(merchants, [
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
    from subject_signal_counts s where s.subject_type = 0 and s.subject_id = t.merchant_id and ${valid("s", asOf)})`;
}

const standing = {
  commerce: { sql: () => stringCounts("r", COMMERCE), json: countSchema(COMMERCE) },
  disputes: { sql: () => stringCounts("r", DISPUTES), json: countSchema(DISPUTES) },
  trust_signals_by_kind: { sql: signalsByKind, json: SIGNALS },
};

const reputation = record({
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
  missing: "There is no merchant with this id.",
};

const flatReputation = one("/merchants/:id/reputation", reputation, {
  ...byId,
  operation: "getMerchantReputation",
  summary: "What a merchant has sold and delivered, and what is said of it",
});

const getReputation: Read = {
  ...flatReputation,
  answer: {
    title: "MerchantReputation",
    ...closedObject({
      merchant: schemaOf(merchant),
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
        const row = firstRecord(answered);
        if (!row) return null;
        const { commerce, disputes, trust_signals_by_kind, ...merchant } = row;
        return { merchant, commerce, disputes, trust_signals_by_kind };
      },
    };
  },
};

export const merchantReads = [
  one("/merchants/:id", merchant, { ...byId, operation: "getMerchant", summary: "One merchant" }),
  list("/merchants", merchant, {
    operation: "listMerchants",
    summary: "Merchants, by id",
    tag: "Commerce",
    key: "merchants",
    order: { direction: "asc", keys: [{ sql: "t.merchant_id", cast: "numeric" }] },
    filters: {
      owner: unchanging(merchants, "owner", addressParameter, "Only those of this owner."),
      active: equals("active", boolParameter, "Only those that are, or are not, active."),
    },
  }),
  getReputation,
];
