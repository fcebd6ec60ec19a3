// GET /documents: which hashes have a published document, of whatever kind.
import { Fault } from "../../lib/fault.ts";
import { parseHash } from "../../lib/hex.ts";
import { type JsonSchema, nullable, titledRecord } from "../../schema/json-schema.ts";
import type { ParameterKind } from "../../schema/parameter.ts";
import { defineList } from "../../schema/reads/list.ts";
import type { Read } from "../../schema/reads/read.ts";
import { computedField, defineDerivedRecord } from "../../schema/reads/record.ts";
import { rawSql, type SqlValue, sql } from "../../schema/sql.ts";
import { DOCUMENT_KINDS, DOCUMENT_LABELS } from "./kinds.ts";

// A page has all of them, although a text may be published as each of the three kinds.
const HASHES_MAX = 33;

const KINDS = DOCUMENT_KINDS.map(({ kind }) => `'${kind}'`).join(", ");

const hashesKind: ParameterKind<SqlValue> = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{64}(,0x[0-9a-fA-F]{64})*$" },
  parse: (text, name) => {
    const hashes = text.split(",").map((each) => parseHash(each, name));
    if (hashes.length <= HASHES_MAX) return hashes;
    throw new Fault("INPUT_INVALID", `${name} must be at most ${HASHES_MAX} hashes, separated by commas.`);
  },
};

const FIELDS: Readonly<Record<string, JsonSchema>> = {
  hash: { type: "string", pattern: "^0x[0-9a-f]{64}$" },
  kind: { type: "string", enum: DOCUMENT_KINDS.map(({ kind }) => kind) },
  ...Object.fromEntries(Object.keys(DOCUMENT_LABELS).map((label) => [label, nullable({ type: "string" })])),
  name: nullable({ type: "string", description: "The short `name` of a document that is an object." }),
  size_bytes: { type: "integer" },
  created_at: { type: "string", format: "date-time" },
  updated_at: { type: "string", format: "date-time" },
};

const columns = Object.keys(FIELDS).map((name) =>
  name.endsWith("_at") ? `iso_time(${name}) as ${name}` : name,
);

const document = defineDerivedRecord({
  name: "HostedDocument",
  rows: () => sql`select ${rawSql(columns.join(", "))} from documents`,
  fields: Object.fromEntries(
    Object.entries(FIELDS).map(([name, json]) => [name, computedField(`t.${name}`, json)]),
  ),
});

export const documentReads: readonly Read[] = [
  {
    ...defineList("/documents", document, {
      operationId: "listDocuments",
      summary: "Published documents with given hashes",
      description:
        "The documents published under the hashes: their kind, what the publisher has stated about the text, and its size. A text may be published as several kinds; a hash without a document has no element.",
      tag: "Documents",
      key: "documents",
      order: {
        direction: "asc",
        keys: [
          { sql: "t.hash", cast: "text" },
          { sql: "t.kind", cast: "text" },
        ],
      },
      filters: {
        hash: {
          kind: hashesKind,
          description: `Hashes of documents, at most ${HASHES_MAX}, separated by commas.`,
          required: true,
          // Names the kinds, so that the key of the table finds each of them.
          where: (value) => sql`t.kind in (${rawSql(KINDS)}) and t.hash = any(${value}::text[])`,
        },
      },
      itemSchema: titledRecord("HostedDocument", FIELDS),
    }),
    provenance: false,
    unversioned: true,
    writableTables: ["documents"],
  },
];
