// Reads of commerce: GET /merchants, /services, /facilitators, /quotes, /receipts, /trust-signals and /disputes.
import { closedObject, eachKey, listOf, titledRecord } from "../../schema/json-schema.ts";
import {
  addressParameter,
  boolParameter,
  enumParameter,
  hashParameter,
  integerEnumParameter,
  uintParameter,
} from "../../schema/parameter.ts";
import { defineList, equalsFilter } from "../../schema/reads/list.ts";
import { type AsOf, defineIndexRead, toFirstRecord } from "../../schema/reads/read.ts";
import {
  computedField,
  defineRecord,
  defineRecordRead,
  isValidAt,
  type RecordOf,
  recordJsonSchema,
  tableFields,
} from "../../schema/reads/record.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { disputes, quotes, receipts, trustSignals } from "../domains/commerce.ts";
import { merchantRecords } from "../domains/commerce-totals.ts";
import { facilitators, merchants, services } from "../domains/merchants.ts";

export const service = defineRecord({
  name: "Service",
  isProvable: true,
  table: services,
  fields: tableFields(services),
});

export const serviceReads = [
  defineRecordRead("/services/:id", service, {
    operationId: "getService",
    summary: "One service, by its number",
    description: "An offer of a merchant: its text id, metadata and capabilities, and whether it is active.",
    tag: "Commerce",
  }),
  defineList("/services", service, {
    operationId: "listServices",
    summary: "Services, by number",
    description: "The services of all merchants, or of one. Filters can be combined.",
    tag: "Commerce",
    key: "services",
    order: "asc",
    filters: {
      merchant_id: equalsFilter("merchant_id", uintParameter(), "Filter by merchant."),
      capability_hash: equalsFilter("capability_hash", hashParameter, "Filter by capability hash."),
      active: equalsFilter("active", boolParameter, "Filter by active state."),
    },
  }),
];

export const facilitator = defineRecord({
  name: "Facilitator",
  isProvable: true,
  table: facilitators,
  fields: tableFields(facilitators),
});

const facilitatorReads = [
  defineRecordRead("/facilitators/:id", facilitator, {
    operationId: "getFacilitator",
    summary: "One facilitator",
    description: "An entry of CommerceRegistry: its address, metadata, and whether it is active.",
    tag: "Commerce",
  }),
  defineList("/facilitators", facilitator, {
    operationId: "listFacilitators",
    summary: "Facilitators, by id",
    description:
      "Facilitators in CommerceRegistry, which settle payments for merchants. Filters can be combined.",
    tag: "Commerce",
    key: "facilitators",
    order: "asc",
    filters: {
      facilitator: equalsFilter("facilitator", addressParameter, "Filter by address, as receipts name it."),
      active: equalsFilter("active", boolParameter, "Filter by active state."),
    },
  }),
];

export const quote = defineRecord({
  name: "Quote",
  isProvable: true,
  table: quotes,
  fields: tableFields(quotes, ["block_number"]),
});

const quoteReads = [
  defineRecordRead("/quotes/:quoteHash", quote, {
    operationId: "getQuote",
    summary: "One quote",
    description:
      "The terms that a merchant has quoted to an agent on chain: amount, token, fee and expiry, and whether they are settled.",
    tag: "Commerce",
    kind: hashParameter,
  }),
];

export const receipt = defineRecord({
  name: "Receipt",
  isProvable: true,
  table: receipts,
  fields: tableFields(receipts),
});

const receiptReads = [
  defineRecordRead("/receipts/:id", receipt, {
    operationId: "getReceipt",
    summary: "One receipt",
    description:
      "A settled payment between an agent and a merchant: its quote, amount, protocol fee and the hashes that prove it.",
    tag: "Commerce",
  }),
  defineList("/receipts", receipt, {
    operationId: "listReceipts",
    summary: "Receipts, newest first",
    description:
      "Settled payments between agents and merchants, each with its quote, amount and protocol fee. Filters can be combined.",
    tag: "Commerce",
    key: "receipts",
    order: "desc",
    filters: {
      agent: equalsFilter("agent", addressParameter, "Filter by paying agent."),
      merchant_id: equalsFilter("merchant_id", uintParameter(), "Filter by merchant."),
      service_numeric_id: equalsFilter("service_numeric_id", uintParameter(), "Filter by service."),
      facilitator: equalsFilter("facilitator", addressParameter, "Filter by the address of the facilitator."),
      token: equalsFilter("token", addressParameter, "Filter by token."),
      quote_hash: equalsFilter("quote_hash", hashParameter, "Filter by quote."),
    },
  }),
];

export const dispute = defineRecord({
  name: "Dispute",
  isProvable: true,
  table: disputes,
  fields: tableFields(disputes, ["merchant_id"]),
});

const STATUSES = ["open", "resolved", "rejected"] as const;

const disputeReads = [
  defineRecordRead("/disputes/:id", dispute, {
    operationId: "getDispute",
    summary: "One dispute",
    description:
      "A dispute about a receipt: who opened it, its status, and the hashes of reason and resolution.",
    tag: "Commerce",
  }),
  defineList("/disputes", dispute, {
    operationId: "listDisputes",
    summary: "Disputes, newest first",
    description:
      "Disputes about receipts, with their status and the hashes of reason and resolution. Filters can be combined.",
    tag: "Commerce",
    key: "disputes",
    order: "desc",
    filters: {
      receipt_id: equalsFilter("receipt_id", uintParameter(), "Filter by receipt."),
      merchant_id: equalsFilter("merchant_id", uintParameter(), "Filter by the merchant of the receipt."),
      opener: equalsFilter("opener", addressParameter, "Filter by who opened it."),
      status: {
        kind: enumParameter(STATUSES),
        description: "Filter by status.",
        column: "status",
        where: (value) => sql`t.status = ${String(value).toUpperCase()}`,
      },
    },
  }),
];

export const signal = defineRecord({
  name: "TrustSignal",
  table: trustSignals,
  fields: tableFields(trustSignals),
});

const numbered = integerEnumParameter([0, 1, 2, 3]);
const SUBJECT_TYPES = "0 merchants, 1 services, 2 facilitators, 3 agents";
const KINDS = "0 verification, 1 risk, 2 compliance, 3 fulfillment";

const trustSignalReads = [
  defineList("/trust-signals", signal, {
    operationId: "listTrustSignals",
    summary: "Trust signals, newest first",
    description:
      "Signals of reporters about merchants, services, facilitators and agents. Filters can be combined.",
    tag: "Commerce",
    key: "trust_signals",
    order: "desc",
    filters: {
      subject_type: equalsFilter("subject_type", numbered, `Filter by subject type: ${SUBJECT_TYPES}.`),
      subject_id: equalsFilter("subject_id", uintParameter(), "Filter by subject id."),
      kind: equalsFilter("kind", numbered, `Filter by kind: ${KINDS}.`),
      reporter: equalsFilter("reporter", addressParameter, "Filter by reporter."),
    },
  }),
];

/** Counters as an object of strings, zero if nothing is counted yet. */
export function selectCountsSql(alias: string, keys: readonly string[]): SqlText {
  const pairs = keys.map((key) => `'${key}', coalesce(${alias}.${key}, 0)::text`);
  return sql`json_build_object(${rawSql(pairs.join(", "))})`;
}

export function countsSchema<const Key extends string>(keys: readonly Key[]) {
  return closedObject(eachKey(keys, { type: "string" }));
}

export const merchant = defineRecord({
  name: "Merchant",
  isProvable: true,
  table: merchants,
  fields: tableFields(merchants),
});

const COMMERCE = ["receipts", "settled_volume", "fulfilled_receipts"] as const;
const DISPUTES = ["disputes", "open_disputes", "resolved_disputes", "rejected_disputes"] as const;
const SIGNALS = listOf(closedObject({ kind: { type: "integer" }, signals: { type: "string" } }));

// Subjects of type 0 are merchants.
function signalsByKind(asOf: AsOf): SqlText {
  return sql`(select coalesce(json_agg(json_build_object('kind', s.kind, 'signals', s.signals::text) order by s.signals desc, s.kind), '[]')
    from subject_signal_counts s where s.subject_type = 0 and s.subject_id = t.merchant_id and ${isValidAt("s", asOf)})`;
}

const reputationFields = {
  commerce: computedField(() => selectCountsSql("r", COMMERCE), countsSchema(COMMERCE)),
  disputes: computedField(() => selectCountsSql("r", DISPUTES), countsSchema(DISPUTES)),
  trust_signals_by_kind: computedField(signalsByKind, SIGNALS),
};

const reputation = defineRecord({
  name: "MerchantReputation",
  table: merchants,
  joins: [{ table: merchantRecords, alias: "r", on: "r.merchant_id = t.merchant_id" }],
  fields: { ...merchant.fields, ...reputationFields },
});

const flatReputation = defineRecordRead("/merchants/:id/reputation", reputation, {
  operationId: "getMerchantReputation",
  summary: "Reputation of a merchant",
  description:
    "The merchant with the totals of its receipts, disputes and trust signals, all as of the same block.",
  tag: "Commerce",
  notFoundMessage: "No merchant has this id.",
});

export const reputationSchema = titledRecord("MerchantReputation", {
  merchant: recordJsonSchema(merchant),
  commerce: reputationFields.commerce.json,
  disputes: reputationFields.disputes.json,
  trust_signals_by_kind: reputationFields.trust_signals_by_kind.json,
});

const getReputation = defineIndexRead({
  ...flatReputation,
  responseSchema: reputationSchema,
  plan(input) {
    const { sql: statement, cost } = flatReputation.plan(input);
    return {
      sql: statement,
      cost,
      assemble(rows) {
        const row = toFirstRecord<RecordOf<typeof reputation>>(rows);
        if (!row) return null;
        const { commerce, disputes, trust_signals_by_kind, ...merchant } = row;
        return { merchant, commerce, disputes, trust_signals_by_kind };
      },
    };
  },
});

const merchantReads = [
  defineRecordRead("/merchants/:id", merchant, {
    operationId: "getMerchant",
    summary: "One merchant",
    description: "An entry of CommerceRegistry: owner, payout address, metadata, and whether it is active.",
    tag: "Commerce",
  }),
  defineList("/merchants", merchant, {
    operationId: "listMerchants",
    summary: "Merchants, by id",
    description: "Registered merchants. Filters can be combined.",
    tag: "Commerce",
    key: "merchants",
    order: "asc",
    filters: {
      owner: equalsFilter("owner", addressParameter, "Filter by owner."),
      active: equalsFilter("active", boolParameter, "Filter by active state."),
    },
  }),
  getReputation,
];

export const commerceReads = [
  ...merchantReads,
  ...serviceReads,
  ...facilitatorReads,
  ...quoteReads,
  ...receiptReads,
  ...trustSignalReads,
  ...disputeReads,
];
