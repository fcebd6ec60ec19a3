// The three kinds of hosted documents: their paths, JSON keys and labels, and the checks of their text.
import { type Hex, keccak256 } from "viem";
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { findJsonName } from "../../lib/foreign-text.ts";
import { parseAddress, parseHash } from "../../lib/hex.ts";
import { scanJson } from "../../lib/json-scan.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";

/** Optional data about a document. Labels are not part of its identity, which is the hash of its text. */
type DocumentLabel = {
  /** Schema of the request field. */
  readonly json: JsonSchema;
  /** Returns the stored form, or throws a Fault that names the label. */
  readonly parse: (value: unknown, name: string) => string;
};

// Labels are names and ids.
const NAME_LENGTH_MAX = 256;

const hash: DocumentLabel = { json: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }, parse: parseHash };

const address: DocumentLabel = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  parse: parseAddress,
};

const number: DocumentLabel = {
  json: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
  parse: (value, name) => parseUint(value, name).toString(),
};

const text: DocumentLabel = {
  json: { type: "string", maxLength: NAME_LENGTH_MAX },
  parse: (value, name) => {
    if (typeof value === "string" && value.length <= NAME_LENGTH_MAX && isStorableText(value)) return value;
    throw new Fault("INPUT_INVALID", `${name} must be text of at most ${NAME_LENGTH_MAX} characters.`);
  },
};

/** Keys are columns of the documents table. */
export const DOCUMENT_LABELS = {
  request_hash: hash,
  request_id: text,
  merchant_id: number,
  service_numeric_id: number,
  service_id: text,
  agent: address,
} as const satisfies Record<string, DocumentLabel>;

export type DocumentLabelName = keyof typeof DOCUMENT_LABELS;

export const expectedHashField = hash;

/** Whether PostgreSQL can store a text as UTF-8: without NUL and lone surrogates. */
function isStorableText(value: string): boolean {
  return !value.includes("\0") && !/\p{Surrogate}/u.test(value);
}

export type DocumentKind = {
  /** Value of documents.kind. */
  readonly kind: "catalog" | "quote_request" | "quote_response";
  readonly title: string;
  readonly noun: string;
  readonly path: string;
  readonly textKey: string;
  readonly hashKey: string;
  /** In the order of the request fields. */
  readonly labels: readonly DocumentLabelName[];
};

export const DOCUMENT_KINDS: readonly DocumentKind[] = [
  {
    kind: "catalog",
    title: "Catalog",
    noun: "catalog",
    path: "/catalogs",
    textKey: "catalog_json",
    hashKey: "catalog_hash",
    labels: ["merchant_id", "service_id"],
  },
  {
    kind: "quote_request",
    title: "QuoteRequest",
    noun: "quote request",
    path: "/quote-requests",
    textKey: "quote_request_json",
    hashKey: "request_hash",
    labels: ["request_id", "merchant_id", "service_numeric_id", "service_id", "agent"],
  },
  {
    kind: "quote_response",
    title: "QuoteResponse",
    noun: "quote response",
    path: "/quote-responses",
    textKey: "quote_response_json",
    hashKey: "response_hash",
    labels: ["request_hash", "request_id", "merchant_id", "service_numeric_id", "agent"],
  },
];

// Fits a catalog of a few hundred services. Larger content belongs behind a link.
export const DOCUMENT_BYTES_MAX = 128 * 1024;

// The lowest default limit of common JSON parsers. Parsers without a limit crash on deep nesting.
export const DOCUMENT_DEPTH_MAX = 64;

const LIMITS = { depthMax: DOCUMENT_DEPTH_MAX, tokensMax: null, keysMax: null, unambiguous: false };

/** Stored as sent, identified by the hash of its bytes. */
export type DocumentText = {
  readonly text: string;
  readonly hash: Hex;
  readonly size: number;
  /** The name that it gives itself; null without one. */
  readonly name: string | null;
};

/**
 * Accepts any JSON value that is not nested too deeply, even with duplicate keys or numbers beyond a double. The value
 * is not interpreted: bytes are stored as sent.
 */
export function parseDocumentText(given: unknown, name: string): DocumentText {
  if (typeof given !== "string" || !isStorableText(given)) {
    throw new Fault("INPUT_INVALID", `${name} must be the JSON text of the document, as a string.`);
  }
  const bytes = Buffer.from(given, "utf8");
  if (bytes.length > DOCUMENT_BYTES_MAX) {
    throw new Fault(
      "BODY_TOO_LARGE",
      `${name} has ${bytes.length} bytes; the limit is ${DOCUMENT_BYTES_MAX}.`,
    );
  }
  const problem = scanJson(given, LIMITS);
  if (problem !== null) throw new Fault("INPUT_INVALID", `${name} ${problem}`);
  return { text: given, hash: keccak256(bytes), size: bytes.length, name: findDocumentName(given, name) };
}

/** Escapes in the text may make a name that PostgreSQL cannot store. */
function findDocumentName(given: string, field: string): string | null {
  try {
    const found = findJsonName(JSON.parse(given));
    return found !== null && isStorableText(found) ? found : null;
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `${field} is not valid JSON.`, { cause });
  }
}
