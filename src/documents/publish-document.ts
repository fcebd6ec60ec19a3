// Publishing a document: its text is stored under its hash, once, with what its first publisher said about it.
import { Fault } from "../kit/fault.ts";
import { type Hex, parseHash } from "../kit/hex.ts";
import type { RecordStore } from "../schema/record-store.ts";
import type { DocumentKind } from "./document-kinds.ts";
import { type DocumentRow, findDocument, insertDocument, type Labels } from "./document-rows.ts";
import { readDocumentText } from "./document-text.ts";
import { LABELS } from "./labels.ts";

/** The record of the first publication, whoever publishes the same text again. */
export async function publishDocument(
  store: RecordStore,
  kind: DocumentKind,
  body: Readonly<Record<string, unknown>>,
): Promise<DocumentRow> {
  const document = readDocumentText(body[kind.textKey], kind.textKey);
  const labels = readLabels(kind, body);
  refuseOtherHash(body.expected_hash, document.hash);
  // Repeating a publication must not cost everyone their kept answers.
  const known = await findDocument(store, kind, document.hash);
  if (known) return known;
  return store.change(async (rows) => {
    if (kind.kind === "quote_response" && labels.request_hash !== undefined) {
      const request = await findDocument(rows, { kind: "quote_request" }, labels.request_hash as Hex);
      if (!request) throw new Fault("NOT_FOUND", "There is no hosted quote request with this request_hash.");
    }
    await insertDocument(rows, kind, document, labels);
    const stored = await findDocument(rows, kind, document.hash);
    if (!stored) throw new Error(`a ${kind.noun} was stored and is not there`);
    return stored;
  });
}

function readLabels({ labels }: DocumentKind, body: Readonly<Record<string, unknown>>): Labels {
  return Object.fromEntries(
    labels.flatMap((label) => {
      const value = body[label];
      return value === undefined || value === null ? [] : [[label, LABELS[label].parse(value, label)]];
    }),
  );
}

function refuseOtherHash(expected: unknown, computed: Hex): void {
  if (expected === undefined || expected === null) return;
  if (parseHash(expected, "expected_hash") === computed) return;
  throw new Fault("HASH_MISMATCH", `The text has the hash ${computed}, which is not the expected_hash.`);
}
