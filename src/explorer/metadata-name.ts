// The name of a record: in metadata within the URI itself, or in a document that is hosted here.
import { type Html, html } from "../lib/html.ts";
import { findJsonName } from "../lib/json-name.ts";
import type { ApiReader } from "./api-reader.ts";
import type { GivenName } from "./context.ts";
import { renderForeignText } from "./foreign-text.ts";

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
