// Endpoints of hosted documents: publish a text, fetch the same bytes by hash, read its metadata.

import { Fault } from "../../lib/fault.ts";
import { type Hex, parseHash } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import { defineEndpoint, type Endpoint, type EndpointRequest } from "../../schema/endpoint.ts";
import { type JsonSchema, nullable, schemaOf, titledRecord } from "../../schema/json-schema.ts";
import { hashParameter, pathParameter } from "../../schema/parameter.ts";
import { countStoredBytes, type RecordStore, type StatementRunner } from "../../schema/record-store.ts";
import {
  DOCUMENT_BYTES_MAX,
  DOCUMENT_KINDS,
  DOCUMENT_LABELS,
  type DocumentKind,
  type DocumentText,
  expectedHashField,
  parseDocumentText,
} from "./kinds.ts";
import {
  type DocumentLabels,
  type DocumentRow,
  findDocument,
  insertDocument,
  type NewDocument,
  readDocumentBytes,
  renewDocumentExpiry,
} from "./rows.ts";

type DocumentEndpointOptions = {
  readonly store: RecordStore;
  /** The service's URL without a trailing slash. A function, because a system-chosen port is known only later. */
  readonly publicBaseUrl: () => string;
};

export function createDocumentEndpoints(options: DocumentEndpointOptions): readonly Endpoint[] {
  return DOCUMENT_KINDS.flatMap((kind) => [
    publishEndpoint(kind, options),
    textEndpoint(kind, options),
    metadataEndpoint(kind, options),
  ]);
}

const TAG = "Documents";

const hashInPath = pathParameter("hash", hashParameter, "keccak256 of the document's bytes.");

function publishEndpoint(kind: DocumentKind, { store, publicBaseUrl }: DocumentEndpointOptions): Endpoint {
  return defineEndpoint({
    method: "POST",
    path: kind.path,
    operationId: `publish${kind.title}`,
    summary: `Publish a ${kind.noun}, addressed by the hash of its text`,
    description:
      "Stores the text byte for byte under its keccak256 hash. Published again, it keeps the record of the first publication.",
    tag: TAG,
    parameters: [],
    body: bodySchema(kind),
    // As a JSON string the text is up to twice as long: every quotation mark is escaped.
    bodyBytesMax: 2 * DOCUMENT_BYTES_MAX,
    responses: { 201: recordSchema(kind, {}) },
    errorStatuses: [404, 409],
    async handle(request) {
      const row = await publishDocument(store, kind, request);
      return { status: 201, body: toRecord(kind, row, publicBaseUrl()) };
    },
  });
}

// Content addressed by its hash never changes.
const IMMUTABLE = "public, max-age=31536000, immutable";

function textEndpoint(kind: DocumentKind, { store }: DocumentEndpointOptions): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: `${kind.path}/:hash`,
    operationId: `get${kind.title}`,
    summary: `Get the text of a ${kind.noun}, byte for byte as published`,
    description:
      "Its keccak256 hash is the one in the path, so that a client can verify it. It never changes.",
    tag: TAG,
    parameters: [hashInPath],
    body: null,
    responses: { 200: { description: "The published JSON." } },
    hasEtag: true,
    async handle({ values }) {
      const bytes = await readDocumentBytes(store, kind, values.hash);
      if (!bytes) throw notFound(kind);
      return {
        status: 200,
        body: bytes,
        headers: {
          "content-type": "application/json",
          "cache-control": IMMUTABLE,
          etag: `"${values.hash}"`,
          "x-content-type-options": "nosniff",
        },
      };
    },
  });
}

function metadataEndpoint(kind: DocumentKind, { store, publicBaseUrl }: DocumentEndpointOptions): Endpoint {
  const time = { type: "string", format: "date-time" };
  return defineEndpoint({
    method: "GET",
    path: `${kind.path}/:hash/metadata`,
    operationId: `get${kind.title}Metadata`,
    summary: `Get the metadata of a ${kind.noun}`,
    description: "The publisher's statements about the text, its size, and when it was published.",
    tag: TAG,
    parameters: [hashInPath],
    body: null,
    responses: { 200: recordSchema(kind, { created_at: time, updated_at: time }) },
    async handle({ values }) {
      const row = await findDocument(store, kind, values.hash);
      if (!row) throw notFound(kind);
      const { created_at, updated_at } = row;
      return { status: 200, body: { ...toRecord(kind, row, publicBaseUrl()), created_at, updated_at } };
    },
  });
}

function toRecord(kind: DocumentKind, row: DocumentRow, base: string): Readonly<Record<string, unknown>> {
  return {
    [kind.hashKey]: row.hash,
    ...Object.fromEntries(kind.labels.map((label) => [label, row[label]])),
    size_bytes: row.size_bytes,
    uri: `${base}${kind.path}/${row.hash}`,
  };
}

function notFound({ noun }: DocumentKind): Fault {
  return new Fault("NOT_FOUND", `No ${noun} has this hash.`);
}

function bodySchema({ textKey, labels, noun }: DocumentKind) {
  return schemaOf<Readonly<Record<string, unknown>>>({
    type: "object",
    properties: {
      [textKey]: {
        type: "string",
        description: `The ${noun} as JSON text, at most ${DOCUMENT_BYTES_MAX} bytes; stored byte for byte.`,
      },
      expected_hash: {
        ...nullable(expectedHashField.json),
        description: "If given, the text must have this hash.",
      },
      ...Object.fromEntries(labels.map((label) => [label, nullable(DOCUMENT_LABELS[label].json)])),
    },
    required: [textKey],
  });
}

function recordSchema(
  { title, hashKey, labels }: DocumentKind,
  times: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const properties = {
    [hashKey]: { type: "string", pattern: "^0x[0-9a-f]{64}$" },
    ...Object.fromEntries(labels.map((label) => [label, nullable({ type: "string" })])),
    size_bytes: { type: "integer" },
    uri: { type: "string", format: "uri" },
    ...times,
  };
  return titledRecord(Object.keys(times).length > 0 ? `${title}Metadata` : title, properties);
}

/** Stores a text once under its hash. Published again, it keeps the labels and the record of the first publication. */
async function publishDocument(
  store: RecordStore,
  kind: DocumentKind,
  { body, rawBody, client }: EndpointRequest<unknown, Readonly<Record<string, unknown>>>,
): Promise<DocumentRow> {
  const document = parseDocumentText(body[kind.textKey], kind.textKey);
  const labels = readLabels(kind, body);
  const ownLabels = readLabelsOfDocument(kind, document);
  assertExpectedHash(body.expected_hash, document.hash);
  const existing = await findDocument(store, kind, document.hash);
  if (existing && !existing.is_due) return existing;
  return store.write({ client, tables: ["documents"] }, async (rows) => {
    // Writes are serialized, so no other request can store the document after this check.
    const current = await findDocument(rows, kind, document.hash);
    if (current && !current.is_due) return current;
    const bytes = countStoredBytes(rawBody);
    await rows.charge(bytes);
    if (current) await renewDocumentExpiry(rows, kind, document);
    else await insertNewDocument(rows, kind, { document, labels, bytes }, ownLabels);
    const stored = await findDocument(rows, kind, document.hash);
    if (!stored) throw new Error(`the stored ${kind.noun} is missing`);
    return stored;
  });
}

async function insertNewDocument(
  rows: StatementRunner,
  kind: DocumentKind,
  given: NewDocument,
  ownLabels: DocumentLabels,
): Promise<void> {
  const { request_hash: requestHash } = given.labels;
  if (requestHash !== undefined && !(await isHostedRequest(rows, requestHash))) {
    throw new Fault("NOT_FOUND", "No hosted quote request has this request_hash.");
  }
  const { request_hash: ownHash, ...own } = ownLabels;
  // A document may name a request that is hosted elsewhere; then there is nothing to link.
  const link =
    requestHash === undefined && ownHash !== undefined && (await isHostedRequest(rows, ownHash))
      ? { request_hash: ownHash }
      : {};
  await insertDocument(rows, kind, { ...given, labels: { ...own, ...link, ...given.labels } });
}

async function isHostedRequest(rows: StatementRunner, requestHash: string): Promise<boolean> {
  const hash = parseHash(requestHash, "request_hash");
  return (await findDocument(rows, { kind: "quote_request" }, hash)) !== null;
}

/** The labels that a quote document itself has; a value that is not a valid label is left out. */
function readLabelsOfDocument({ kind, labels }: DocumentKind, { text }: DocumentText): DocumentLabels {
  const content: unknown = kind === "catalog" ? null : JSON.parse(text);
  if (!isJsonObject(content)) return {};
  return Object.fromEntries(
    labels.flatMap((label) => {
      const value = content[label];
      try {
        const said = Number.isSafeInteger(value) ? String(value) : value;
        return said === undefined || said === "" ? [] : [[label, DOCUMENT_LABELS[label].parse(said, label)]];
      } catch (error) {
        // The document is the publisher's business: only labels alongside it must be valid.
        if (error instanceof Fault) return [];
        throw error;
      }
    }),
  );
}

function readLabels({ labels }: DocumentKind, body: Readonly<Record<string, unknown>>): DocumentLabels {
  return Object.fromEntries(
    labels.flatMap((label) => {
      const value = body[label];
      return value === undefined || value === null
        ? []
        : [[label, DOCUMENT_LABELS[label].parse(value, label)]];
    }),
  );
}

function assertExpectedHash(expected: unknown, computed: Hex): void {
  if (expected === undefined || expected === null) return;
  if (parseHash(expected, "expected_hash") === computed) return;
  throw new Fault("HASH_MISMATCH", `The text has the hash ${computed}, which differs from expected_hash.`);
}
