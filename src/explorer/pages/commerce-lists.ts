// The lists of commerce: merchants, services, facilitators, receipts, disputes and trust signals.
import { type Html, html } from "../../lib/html.ts";
import type { ApiRecord } from "../api-call.ts";
import { addressLink, amount, badge, block, hash, recordLink, status, unknown } from "../components.ts";
import type { PageContext } from "../context.ts";
import { renderForeignText } from "../foreign-text.ts";
import type { List } from "../list.ts";
import { KIND_WORDS, kindBadge, railName, SUBJECT_WORDS, subjectLink } from "./commerce-words.ts";

// In a column; the page of the record has all of it.
const TEXT_LENGTH_MAX = 48;

function shortText(value: unknown): Html {
  return typeof value === "string" && value !== "" ? renderForeignText(value, TEXT_LENGTH_MAX) : unknown();
}

function activity({ active }: ApiRecord): Html {
  return status(active === true ? "ACTIVE" : "INACTIVE");
}

const blockColumn = {
  label: "Block",
  kind: "number",
  cell: (each: ApiRecord, page: PageContext) => block(page, each.block_number),
} as const;

const merchantColumn = {
  label: "Merchant",
  cell: (each: ApiRecord, page: PageContext) => recordLink(page, "merchant", String(each.merchant_id)),
} as const;

export const merchantList: List = {
  route: "/merchants",
  key: "merchants",
  csv: "/merchants.csv",
  columns: [
    merchantColumn,
    { label: "State", cell: activity },
    { label: "Owner", cell: (each, page) => addressLink(page, each.owner) },
    { label: "Paid out to", cell: (each, page) => addressLink(page, each.payout_address) },
    { label: "Metadata", cell: (each) => shortText(each.metadata_uri) },
    blockColumn,
  ],
  empty: "There is no such merchant at this block.",
};

export const serviceList: List = {
  route: "/services",
  key: "services",
  csv: "/services.csv",
  columns: [
    {
      label: "Service",
      cell: (each, page) =>
        html`${recordLink(page, "service", String(each.service_numeric_id))} ${shortText(each.service_id)}`,
    },
    { label: "State", cell: activity },
    merchantColumn,
    { label: "Capability", cell: (each, page) => hash(page, each.capability_hash) },
    { label: "Metadata", cell: (each) => shortText(each.metadata_uri) },
    blockColumn,
  ],
  empty: "There is no such service at this block.",
};

export const facilitatorList: List = {
  route: "/facilitators",
  key: "facilitators",
  csv: "/facilitators.csv",
  columns: [
    {
      label: "Facilitator",
      cell: (each, page) => recordLink(page, "facilitator", String(each.facilitator_id)),
    },
    { label: "State", cell: activity },
    { label: "Address", cell: (each, page) => addressLink(page, each.facilitator) },
    { label: "Metadata", cell: (each) => shortText(each.metadata_uri) },
    blockColumn,
  ],
  empty: "There is no such facilitator at this block.",
};

export const receiptList: List = {
  route: "/receipts",
  key: "receipts",
  csv: "/receipts.csv",
  columns: [
    { label: "Receipt", cell: (each, page) => recordLink(page, "receipt", String(each.receipt_id)) },
    { label: "Amount", kind: "number", cell: (each, page) => amount(page, each.amount, each.token) },
    { label: "Agent", cell: (each, page) => addressLink(page, each.agent) },
    merchantColumn,
    { label: "Service", cell: (each, page) => recordLink(page, "service", String(each.service_numeric_id)) },
    { label: "Paid by", cell: (each) => railName(each.payment_rail) },
    {
      label: "Delivery",
      cell: (each) => (each.fulfillment_hash === null ? badge("none yet") : badge("fulfilled", "good")),
    },
    blockColumn,
  ],
  empty: "There is no such receipt at this block.",
};

export const disputeList: List = {
  route: "/disputes",
  key: "disputes",
  csv: "/disputes.csv",
  columns: [
    { label: "Dispute", cell: (each, page) => recordLink(page, "dispute", String(each.dispute_id)) },
    { label: "State", cell: (each) => status(String(each.status)) },
    { label: "Receipt", cell: (each, page) => recordLink(page, "receipt", String(each.receipt_id)) },
    { label: "Opened by", cell: (each, page) => addressLink(page, each.opener) },
    { label: "Reason", cell: (each, page) => hash(page, each.reason_hash) },
    blockColumn,
  ],
  empty: "There is no such dispute at this block.",
};

export const signalList: List = {
  route: "/trust-signals",
  key: "trust_signals",
  csv: "/trust-signals.csv",
  words: { subject_type: SUBJECT_WORDS, kind: KIND_WORDS },
  columns: [
    { label: "Signal", cell: (each) => html`<span class="record">#${String(each.signal_id)}</span>` },
    { label: "Kind", cell: (each) => kindBadge(each.kind) },
    { label: "About", cell: subjectLink },
    { label: "Reporter", cell: (each, page) => addressLink(page, each.reporter) },
    { label: "Hash", cell: (each, page) => hash(page, each.signal_hash) },
    blockColumn,
  ],
  empty: "There is no such signal at this block.",
};

/** A list without the columns that its page says already. */
export function withoutColumns(list: List, hidden: readonly string[]): List {
  return { ...list, columns: list.columns.filter(({ label }) => !hidden.includes(label)) };
}
