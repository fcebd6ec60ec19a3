// An attestation schema as answers show it, one by its hash and all in pages.
import { closedObject, nullable } from "../../schema/json-schema.ts";
import { hashParameter } from "../../schema/parameter.ts";
import { defineList } from "../../schema/reads/list.ts";
import type { Read } from "../../schema/reads/read.ts";
import { computedField, defineDerivedRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { rawSql, sql } from "../../schema/sql.ts";

export const SCHEMA_NAME_LENGTH_MAX = 256;
export const SCHEMA_DESCRIPTION_LENGTH_MAX = 4_096;

const COLUMNS = {
  schema_hash: { type: "string", pattern: "^0x[0-9a-f]{64}$" },
  name: { type: "string" },
  description: nullable({ type: "string" }),
  json_schema: { type: "object" },
  recommended_subject: nullable({ type: "string" }),
  created_at: { type: "string", format: "date-time" },
  updated_at: { type: "string", format: "date-time" },
} as const;

/** The columns of the table, to be selected or returned under the names of the record. */
export const schemaColumnsSql = rawSql(
  Object.keys(COLUMNS)
    .map((column) => (column.endsWith("_at") ? `iso_time(${column}) as ${column}` : column))
    .join(", "),
);

export const schemaResponse = { title: "AttestationSchema", ...closedObject(COLUMNS) };

// What a publisher can make long. The length of the schema is a column: PostgreSQL would have to read a value to measure it.
const LENGTHS: Readonly<Record<string, string>> = {
  description: "octet_length(t.description)",
  json_schema: "t.json_schema_bytes",
};

const schema = defineDerivedRecord({
  name: "AttestationSchema",
  rows: () => sql`select ${schemaColumnsSql}, json_schema_bytes from attestation_schemas`,
  fields: Object.fromEntries(
    Object.entries(COLUMNS).map(([key, json]) => [key, computedField(`t.${key}`, json, LENGTHS[key])]),
  ),
});

// Not from the chain: there is no log or block a schema came with.
const ownRows = { provenance: false, unversioned: true, written: ["attestation_schemas"] } as const;

export const attestationSchemaReads: readonly Read[] = [
  {
    ...defineRecordRead("/attestations/schemas/:schemaHash", schema, {
      operationId: "getAttestationSchema",
      summary: "One attestation schema",
      tag: "Attestations",
      parameter: "schemaHash",
      kind: hashParameter,
      column: "schema_hash",
      notFoundMessage: "There is no attestation schema with this hash.",
    }),
    responseSchema: schemaResponse,
    ...ownRows,
  },
  {
    ...defineList("/attestations/schemas", schema, {
      operationId: "listAttestationSchemas",
      summary: "The attestation schemas, built-in and published, by hash",
      tag: "Attestations",
      key: "schemas",
      order: { direction: "asc", keys: [{ sql: "t.schema_hash", cast: "text" }] },
      filters: {},
      itemSchema: schemaResponse,
    }),
    ...ownRows,
  },
];
