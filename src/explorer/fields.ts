// Fields of records, rows and events by their names: each shown as what it is, with a link if it names a record.
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import { AMOUNT_TOKENS } from "../schema/amount-tokens.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import {
  addressLink,
  amount,
  badge,
  basisPoints,
  block,
  facts,
  hash,
  isoTime,
  name,
  number,
  type RecordKind,
  recordLink,
  seconds,
  status,
  time,
  token,
  transaction,
  unknown,
} from "./components.ts";
import type { PageContext } from "./context.ts";
import { foreignUri, railName, renderForeignText } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

const ID_FIELDS: Readonly<Record<string, RecordKind>> = {
  agent_id: "agent",
  attestation_id: "attestation",
  attestor_id: "attestor",
  dispute_id: "dispute",
  facilitator_id: "facilitator",
  intent_id: "intent",
  merchant_id: "merchant",
  quote_hash: "quote",
  receipt_id: "receipt",
  request_hash: "document",
  required_attestation_schema: "schema",
  schema_hash: "schema",
  service_numeric_id: "service",
  solver_id: "solver",
};

const TIMES = /^(deadline|(block_)?timestamp|valid_until|window_start|expires_at)$/;
const COUNTS = /^(bond|block_number|fills|(revoked_)?attestations)$/;

/** Texts that owners of records choose freely: shown as theirs, whatever they look like. */
const FOREIGN_TEXTS: Readonly<Record<string, (text: string) => Html>> = {
  metadata_uri: foreignUri,
  request_id: name,
  service_id: name,
};

export const activeStatus = (active: unknown): Html => status(active === true ? "ACTIVE" : "INACTIVE");

/** Numbers that have a name or a unit wherever they are shown: in records, rows and arguments of events. */
const NUMBERS: Readonly<Record<string, (value: string) => Html | null>> = {
  payment_rail: (value) => html`${railName(value)}`,
  protocol_fee_bps: basisPoints,
  slippage_bps: basisPoints,
  latency_seconds: seconds,
  latency_seconds_total: seconds,
  // The contract takes 0 for no limit.
  max_per_day: (value) => (value === "0" ? noLimit() : null),
  max_per_payment: (value) => (value === "0" ? noLimit() : null),
};

export const noLimit = (): Html => html`<span class="soft">no limit</span>`;

/** Fields that mean more on a page of records than in a row that an event has changed. */
const RECORD_FIELDS: Readonly<Record<string, (page: PageContext, value: unknown) => Html>> = {
  active: (_page, value) => activeStatus(value),
  block_number: block,
  created_at: (_page, value) => isoTime(value),
  updated_at: (_page, value) => isoTime(value),
};

/** A value of a record with its label: a fact on its page, or a column of a list. */
export type Item<T> = readonly [
  label: string,
  value: (keyof T & string) | ((record: T, page: PageContext) => HtmlValue),
  /** Numbers align to the right, sentences get the width of a phone. */
  kind?: "number" | "sentence",
];

/** `published` has the hashes of documents that are published here. */
export function itemValue<T>(
  [, value]: Item<T>,
  record: T,
  page: PageContext,
  published?: Pick<ReadonlyMap<unknown, unknown>, "has">,
): HtmlValue {
  if (typeof value === "function") return value(record, page);
  const fields = record as Fields;
  if (published?.has(fields[value]) === true)
    return html`${hash(page, fields[value], "document")} ${badge("published", "good")}`;
  return RECORD_FIELDS[value]?.(page, fields[value]) ?? fieldValue(page, fields, value);
}

export function itemKind<T>([, value, kind]: Item<T>): "number" | "sentence" | "" {
  const isNumber = typeof value === "string" && (value in AMOUNT_TOKENS || COUNTS.test(value));
  return kind ?? (isNumber ? "number" : "");
}

/** The facts of a record. */
export function recordFacts<T>(
  items: readonly Item<T>[],
  record: T,
  page: PageContext,
  published?: Pick<ReadonlyMap<unknown, unknown>, "has">,
): Html {
  return facts(items.map((item) => [item[0], itemValue(item, record, page, published)]));
}

type Written = {
  readonly block_number: string;
  readonly block_timestamp: string;
  readonly tx_hash: string;
};

export const timeAndBlock = (
  { block_timestamp, block_number }: Omit<Written, "tx_hash">,
  page: PageContext,
) => html`${time(block_timestamp)} · block ${block(page, block_number)}`;

/** When a record was written, and by which transaction. */
export const writtenAt = (label: string): readonly [Item<Written>, Item<Written>] => [
  [label, timeAndBlock],
  ["Transaction", "tx_hash"],
];

/** Arguments of events have the names of Solidity. */
export function toFieldName(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

/** One field; the others alongside it say which token an amount is of. */
export function fieldValue(page: PageContext, fields: Fields, field: string): Html {
  const value = fields[field];
  if (value === null || value === undefined || value === "") return unknown();
  if (typeof value === "boolean") return html`${value ? "yes" : "no"}`;
  if (typeof value !== "string" && typeof value !== "number") return unknown();
  const text = String(value);
  const foreign = FOREIGN_TEXTS[field]?.(text);
  if (foreign !== undefined) return foreign;
  return text.startsWith("0x") ? hexValue(page, field, text) : plainValue(page, fields, field, text);
}

function hexValue(page: PageContext, name: string, text: string): Html {
  if (/(^|_)token$/.test(name)) return token(page, text);
  if (/^0x[0-9a-f]{40}$/.test(text)) return addressLink(page, text);
  if (!/^0x[0-9a-f]{64}$/.test(text)) return html`<code class="data">${renderForeignText(text)}</code>`;
  return name === "tx_hash" ? transaction(page, text) : hash(page, text, ID_FIELDS[name]);
}

function plainValue(page: PageContext, fields: Fields, name: string, text: string): Html {
  const kind = ID_FIELDS[name];
  // Ids count from one: a contract returns zero for a missing record.
  if (kind !== undefined)
    return text === "0" ? html`<span class="soft">none</span>` : recordLink(page, kind, text);
  const shown = NUMBERS[name]?.(text);
  if (shown !== undefined && shown !== null) return shown;
  const tokenField = AMOUNT_TOKENS[name];
  if (tokenField !== undefined && fields[tokenField] !== undefined)
    return amount(page, text, fields[tokenField]);
  // The registry holds bonds in the coin of the chain.
  if (name === "bond") return amount(page, text, ZERO_ADDRESS);
  // The contract records the fee of a bid without a token.
  if (name === "fee") return amount(page, text, null);
  if (TIMES.test(name) && text !== "0") return time(text);
  if (name === "status") return status(text);
  if (/^-?[0-9]+$/.test(text)) return number(text);
  return name.endsWith("_uri") ? foreignUri(text) : renderForeignText(text);
}
