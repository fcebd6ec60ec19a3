// Publishing a document: its text is stored under its hash, once, with what its first publisher said about it.
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseHash } from "../../lib/hex.ts";
import type { EndpointRequest } from "../../schema/endpoint.ts";
import { countStoredBytes, type RecordStore, type StatementRunner } from "../../schema/record-store.ts";
import type { DocumentKind } from "./kinds.ts";
import { DOCUMENT_LABELS } from "./kinds.ts";
import {
  type DocumentLabels,
  type DocumentRow,
  findDocument,
  insertDocument,
  type NewDocument,
  renewDocumentExpiry,
} from "./rows.ts";
import { parseDocumentText } from "./text.ts";

/** The record of the first publication, whoever publishes the same text again. */
export async function publishDocument(
  store: RecordStore,
  kind: DocumentKind,
  request: Pick<EndpointRequest, "body" | "rawBody" | "client">,
): Promise<DocumentRow> {
  const body = request.body as Readonly<Record<string, unknown>>;
  const document = parseDocumentText(body[kind.textKey], kind.textKey);
  const labels = readLabels(kind, body);
  refuseOtherHash(body.expected_hash, document.hash);
  const known = await findDocument(store, kind, document.hash);
  if (known && !known.is_due) return known;
  // No cached response is made from documents: nothing has to be dropped.
  return store.write({ client: request.client, tables: [] }, async (rows) => {
    // Changes run one after another: what is not there now is not stored by another meanwhile.
    const before = await findDocument(rows, kind, document.hash);
    if (before && !before.is_due) return before;
    const bytes = countStoredBytes(request.rawBody);
    await rows.charge(bytes);
    if (before) await renewDocumentExpiry(rows, kind, document.hash);
    else await insertNew(rows, kind, { document, labels, bytes });
    const stored = await findDocument(rows, kind, document.hash);
    if (!stored) throw new Error(`a ${kind.noun} was stored and is not there`);
    return stored;
  });
}

async function insertNew(rows: StatementRunner, kind: DocumentKind, given: NewDocument): Promise<void> {
  const { request_hash: requestHash } = given.labels;
  if (kind.kind === "quote_response" && requestHash !== undefined) {
    const request = await findDocument(rows, { kind: "quote_request" }, requestHash as Hex);
    if (!request) throw new Fault("NOT_FOUND", "There is no hosted quote request with this request_hash.");
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

function refuseOtherHash(expected: unknown, computed: Hex): void {
  if (expected === undefined || expected === null) return;
  if (parseHash(expected, "expected_hash") === computed) return;
  throw new Fault("HASH_MISMATCH", `The text has the hash ${computed}, which is not the expected_hash.`);
}
