// Publishes a document: stores its text once under its hash, with the labels of the first publisher.
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseHash } from "../../lib/hex.ts";
import type { EndpointRequest } from "../../schema/endpoint.ts";
import { countStoredBytes, type RecordStore, type StatementRunner } from "../../schema/record-store.ts";
import { DOCUMENT_LABELS, type DocumentKind } from "./kinds.ts";
import {
  type DocumentLabels,
  type DocumentRow,
  findDocument,
  insertDocument,
  type NewDocument,
  renewDocumentExpiry,
} from "./rows.ts";
import { parseDocumentText } from "./text.ts";

/** Returns the record of the first publication, also when the same text is published again. */
export async function publishDocument(
  store: RecordStore,
  kind: DocumentKind,
  request: Pick<EndpointRequest, "body" | "rawBody" | "client">,
): Promise<DocumentRow> {
  const body = request.body as Readonly<Record<string, unknown>>;
  const document = parseDocumentText(body[kind.textKey], kind.textKey);
  const labels = readLabels(kind, body);
  assertExpectedHash(body.expected_hash, document.hash);
  const existing = await findDocument(store, kind, document.hash);
  if (existing && !existing.is_due) return existing;
  // No cached response contains documents, so no table is invalidated.
  return store.write({ client: request.client, tables: [] }, async (rows) => {
    // Writes are serialized, so no other request can store the document after this check.
    const current = await findDocument(rows, kind, document.hash);
    if (current && !current.is_due) return current;
    const bytes = countStoredBytes(request.rawBody);
    await rows.charge(bytes);
    if (current) await renewDocumentExpiry(rows, kind, document.hash);
    else await insertNewDocument(rows, kind, { document, labels, bytes });
    const stored = await findDocument(rows, kind, document.hash);
    if (!stored) throw new Error(`the stored ${kind.noun} is missing`);
    return stored;
  });
}

async function insertNewDocument(
  rows: StatementRunner,
  kind: DocumentKind,
  given: NewDocument,
): Promise<void> {
  const { request_hash: requestHash } = given.labels;
  if (kind.kind === "quote_response" && requestHash !== undefined) {
    const request = await findDocument(
      rows,
      { kind: "quote_request" },
      parseHash(requestHash, "request_hash"),
    );
    if (!request) throw new Fault("NOT_FOUND", "No hosted quote request has this request_hash.");
  }
  await insertDocument(rows, kind, given);
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
