// Fields of records, rows and events by their names: each shown as what it is, with a link if it names a record; and the names of records, in metadata within their URI or in a document hosted here.

import { findJsonName } from "../lib/foreign-text.ts";
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import { AMOUNT_TOKENS } from "../schema/amount-tokens.ts";
import { PinLostFault } from "../schema/reads/read.ts";
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
  type PageKind,
  recordLink,
  seconds,
  status,
  time,
  token,
  transaction,
  unknown,
} from "./components.ts";
import type { GivenName, PageContext, RecordNames } from "./context.ts";
import { foreignUri, railName, renderForeignText } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

const ID_FIELDS: Readonly<Record<string, PageKind>> = {
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

const KINDS: ReadonlySet<unknown> = new Set(["agent", "facilitator", "merchant", "service", "solver"]);

// The names of as many records of each kind are read with a page: most pages mention fewer, and the rest keep their ids.
const RECORDS_MAX = 8;
// A part of a sentence is five levels deep; documents of others may be nested without end.
const DEPTH_MAX = 6;
// A sentence has no room for more.
const NAME_LENGTH_MAX = 32;
// Numbers of 256 bits, and addresses.
const ID = /^(\d{1,78}|0x[0-9a-fA-F]{40})$/;

const keyOf = (kind: unknown, id: unknown) => `${kind} ${id}`;

/** The part of ApiReader that names are read with. */
type NameSource = {
  readonly requestsLeft: number;
  get<T>(
    route: string,
    values: { readonly query: Readonly<Record<string, string>> },
  ): Promise<{ readonly body: T }>;
  findRecord<T>(kind: PageKind, id: string): Promise<{ readonly body: T } | null>;
};

type Mentions = ReadonlyMap<PageKind, ReadonlySet<string>>;

/** The records in what a page has loaded: those of sentences, and the sellers of receipts. */
export function findMentions(loaded: unknown): Mentions {
  const found = new Map<PageKind, Set<string>>();
  const add = (kind: unknown, id: unknown) => {
    if (!KINDS.has(kind) || typeof id !== "string" || !ID.test(id)) return;
    const ids = found.get(kind as PageKind) ?? new Set();
    if (ids.size < RECORDS_MAX) found.set(kind as PageKind, ids.add(id));
  };
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return;
    if ("record" in value && "id" in value) add(value.record, value.id);
    if ("receipt_id" in value && "merchant_id" in value) {
      add("merchant", value.merchant_id);
      if ("service_numeric_id" in value) add("service", value.service_numeric_id);
    }
    for (const [key, each] of Object.entries(value)) {
      // Anyone may publish a schema, whose keys are then not ours.
      if (key !== "json_schema") visit(each, depth + 1);
    }
  };
  visit(loaded, 0);
  return found;
}

/** A page shows ids alone if its names cannot be read, or if it has made all its requests. */
export async function readRecordNames(api: NameSource, mentions: Mentions): Promise<RecordNames> {
  if (api.requestsLeft < 1) return new Map();
  try {
    return await readNames(api, mentions);
  } catch (error) {
    if (error instanceof PinLostFault) throw error;
    return new Map();
  }
}

/** Reads the mentioned records in one statement, and their documents in another. */
async function readNames(api: NameSource, mentions: Mentions): Promise<RecordNames> {
  const reads = [...mentions].flatMap(([kind, ids]) =>
    padKeys(ids, RECORDS_MAX).map(async (id) => {
      const found = await api.findRecord<NamedRecord>(kind, id);
      return found === null ? [] : [{ key: keyOf(kind, id), record: found.body }];
    }),
  );
  const found = (await Promise.all(reads)).flat();
  const records = api.requestsLeft < 1 ? [] : found.map(({ record }) => record);
  const documents = await readDocumentNames(api, records);
  return new Map(
    found.flatMap(({ key, record }) => {
      const name = findName(record, documents);
      return name === null ? [] : [[key, name] as const];
    }),
  );
}

/** The link of a record, followed by its name if it has one. */
export function namedLink(page: PageContext, kind: PageKind, id: string, label?: string): Html {
  const name = page.names?.get(keyOf(kind, id));
  const link = recordLink(page, kind, id, label);
  return name === undefined ? link : html`${link} ${renderGivenName(name, NAME_LENGTH_MAX)}`;
}

// A name with a description fits; a page may have a hundred of them to decode.
const URI_LENGTH_MAX = 8_192;

const DATA_URI = /^data:application\/json(?:;charset=utf-8)?(;base64)?,(.*)$/is;

/** The own `name` of a `data:` URI of JSON; null for any other URI, and for what is not a short text. */
export function readMetadataName(uri: unknown): string | null {
  if (typeof uri !== "string" || uri.length > URI_LENGTH_MAX) return null;
  const [, base64, content = ""] = DATA_URI.exec(uri) ?? [];
  if (content === "") return null;
  try {
    const text = base64 === undefined ? decodeURIComponent(content) : decodeBase64(content);
    return findJsonName(JSON.parse(text));
  } catch {
    // Anyone may write anything there: what cannot be read has no name.
    return null;
  }
}

/** Throws for bytes that are not UTF-8: replaced characters would make another name. */
function decodeBase64(content: string): string {
  const bytes = Buffer.from(decodeURIComponent(content), "base64");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/**
 * A record that may have a name. Its owner wrote the metadata and the hash, but not always the document: anyone can
 * register the hash of a document that someone else has published.
 */
export type NamedRecord = {
  readonly metadata_uri?: unknown;
  readonly metadata_hash?: unknown;
  readonly capabilities_hash?: unknown;
};

/** Names of hosted documents, by hash. */
type DocumentNames = ReadonlyMap<unknown, string | null>;

const hashOf = ({ metadata_hash, capabilities_hash }: NamedRecord): unknown =>
  metadata_hash ?? capabilities_hash;

/** The name within the metadata, or that of the document whose hash the record has; null without either. */
export function findName(record: NamedRecord, names: DocumentNames): GivenName | null {
  const own = readMetadataName(record.metadata_uri);
  if (own !== null) return { text: own, isOfDocument: false };
  const text = names.get(hashOf(record)) ?? null;
  return text === null ? null : { text, isOfDocument: true };
}

/** Third-party text; the name of a document says that it is one. */
export function renderGivenName({ text, isOfDocument }: GivenName, lengthMax?: number): Html {
  const name = renderForeignText(text, lengthMax);
  return isOfDocument
    ? html`<span title="The name in the document whose hash this record has: anyone may have written it.">${name}</span>`
    : name;
}

/** As GET /documents has them. */
export type HostedDocuments = {
  readonly documents: readonly {
    readonly hash: string;
    readonly kind: "catalog" | "quote_request" | "quote_response";
    readonly request_hash: string | null;
    readonly request_id: string | null;
    readonly merchant_id: string | null;
    readonly service_numeric_id: string | null;
    readonly agent: string | null;
    readonly name: string | null;
    readonly size_bytes: number;
    readonly created_at: string;
  }[];
};

// As many as GET /documents takes, so that a page of it has all of them.
const HASHES_PER_REQUEST = 33;

export const isHash = (value: unknown): value is string => typeof value === "string" && !/^0x0*$/.test(value);

/** The names of the documents that describe records without a name in their metadata: as one statement. */
export async function readDocumentNames(
  api: NameSource,
  records: readonly NamedRecord[],
): Promise<DocumentNames> {
  const unnamed = records.filter(({ metadata_uri }) => readMetadataName(metadata_uri) === null);
  const hashes = [...new Set(unnamed.map(hashOf).filter(isHash))];
  const count = Math.ceil(hashes.length / HASHES_PER_REQUEST);
  const found = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const part = hashes.slice(index * HASHES_PER_REQUEST, (index + 1) * HASHES_PER_REQUEST);
      return api.get<HostedDocuments>("/documents", { query: { hash: part.join(","), limit: "100" } });
    }),
  );
  const documents = found.flatMap(({ body }) => body.documents);
  return new Map(documents.flatMap(({ hash, name }) => (name === null ? [] : [[hash, name] as const])));
}

/** A record with the name that was found for it. */
export type WithName<T> = T & { readonly given_name?: GivenName | null };

/** Adds to each record of a list the name that its metadata or its document has. */
export async function addNames<T extends NamedRecord>(
  api: NameSource,
  records: readonly T[],
): Promise<readonly WithName<T>[]> {
  const names = await readDocumentNames(api, records);
  return records.map((each) => ({ ...each, given_name: findName(each, names) }));
}

/** Repeats a key up to a fixed number: the reads of a page are one statement. */
export function padKeys(keys: ReadonlySet<string>, count: number): readonly string[] {
  const [first] = keys;
  return first === undefined ? [] : [...keys, ...Array<string>(Math.max(0, count - keys.size)).fill(first)];
}
