// The names of records: in metadata within their URI or in a document hosted here, and for those that a page mentions.
import { type Html, html } from "../lib/html.ts";
import { findJsonName } from "../lib/json-name.ts";
import { PinLostFault } from "../schema/reads/read-together.ts";
import type { ApiReader } from "./api-reader.ts";
import { type RecordKind, recordLink } from "./components.ts";
import type { GivenName, PageContext, RecordNames } from "./context.ts";
import { renderForeignText } from "./format.ts";

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

type Mentions = ReadonlyMap<RecordKind, ReadonlySet<string>>;

/** The records in what a page has loaded: those of sentences, and the sellers of receipts. */
export function findMentions(loaded: unknown): Mentions {
  const found = new Map<RecordKind, Set<string>>();
  const add = (kind: unknown, id: unknown) => {
    if (!KINDS.has(kind) || typeof id !== "string" || !ID.test(id)) return;
    const ids = found.get(kind as RecordKind) ?? new Set();
    if (ids.size < RECORDS_MAX) found.set(kind as RecordKind, ids.add(id));
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
export async function readRecordNames(api: ApiReader, mentions: Mentions): Promise<RecordNames> {
  if (api.requestsLeft < 1) return new Map();
  try {
    return await readNames(api, mentions);
  } catch (error) {
    if (error instanceof PinLostFault) throw error;
    return new Map();
  }
}

/** Reads the mentioned records in one statement, and their documents in another. */
async function readNames(api: ApiReader, mentions: Mentions): Promise<RecordNames> {
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
export function namedLink(page: PageContext, kind: RecordKind, id: string, label?: string): Html {
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
  api: ApiReader,
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
  api: ApiReader,
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
