// Attestation schemas: what attestations under a schema hash mean. The first publisher of a hash owns it.
import { type Hex, keccak256, stringToBytes } from "viem";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { Fault } from "../../lib/fault.ts";
import { parseHash } from "../../lib/hex.ts";
import { defineEndpoint, type Endpoint } from "../../schema/endpoint.ts";
import { closedObject, nullable, type TypeOf } from "../../schema/json-schema.ts";
import { hashParameter } from "../../schema/parameter.ts";
import { defineList } from "../../schema/reads/list.ts";
import type { Read } from "../../schema/reads/read.ts";
import { computedField, defineDerivedRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { countStoredBytes, type StatementRunner } from "../../schema/record-store.ts";
import { rawSql, sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { mayUseReserve, schemaWriteSubject } from "./signed-write.ts";
import { assertJsonSchema } from "./validate-json-schema.ts";

const SCHEMA_NAME_LENGTH_MAX = 256;
const SCHEMA_DESCRIPTION_LENGTH_MAX = 4_096;

const COLUMNS = {
  schema_hash: { type: "string", pattern: "^0x[0-9a-f]{64}$" },
  name: { type: "string" },
  description: nullable({ type: "string" }),
  json_schema: { type: "object" },
  recommended_subject: nullable({ type: "string" }),
  created_at: { type: "string", format: "date-time" },
  updated_at: { type: "string", format: "date-time" },
} as const;

/** Select list of the record: the table's columns, with times in ISO 8601. */
const schemaColumnsSql = rawSql(
  Object.keys(COLUMNS)
    .map((column) => (column.endsWith("_at") ? `iso_time(${column}) as ${column}` : column))
    .join(", "),
);

const schemaResponse = { title: "AttestationSchema", ...closedObject(COLUMNS) };

// Fields without a short limit. json_schema has a length column, because measuring a value would detoast it.
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

// Schemas do not come from the chain, so they have neither provenance nor a block.
const unindexed = {
  provenance: false,
  unversioned: true,
  writableTables: ["attestation_schemas"],
} as const satisfies Partial<Read>;

export const attestationSchemaReads: readonly Read[] = [
  {
    ...defineRecordRead("/attestations/schemas/:schemaHash", schema, {
      operationId: "getAttestationSchema",
      summary: "Get an attestation schema",
      description: "The meaning of attestations under this schema hash, as their JSON Schema.",
      tag: "Attestations",
      kind: hashParameter,
      column: "schema_hash",
    }),
    responseSchema: schemaResponse,
    ...unindexed,
    showsOwnWrites: true,
  },
  {
    ...defineList("/attestations/schemas", schema, {
      operationId: "listAttestationSchemas",
      summary: "List attestation schemas, built-in and published, by hash",
      description: "The meaning of the schema hashes that attestations name.",
      tag: "Attestations",
      key: "schemas",
      order: { direction: "asc", keys: [{ sql: "t.schema_hash", cast: "text" }] },
      filters: {},
      itemSchema: schemaResponse,
    }),
    ...unindexed,
  },
];

// Half of a hosted document: lists return whole schemas.
const SCHEMA_BYTES_MAX = 64 * 1024;
// An indented schema is up to three times its canonical size; the other fields fit in the remainder.
const BODY_BYTES_MAX = 3 * SCHEMA_BYTES_MAX;

type Publication = {
  readonly schemaHash: Hex;
  readonly name: string;
  readonly description: string | null;
  /** Canonical JSON. */
  readonly jsonSchema: string;
  readonly recommendedSubject: string | null;
};

export function createSchemaEndpoint({ store, authority }: WriteOptions): Endpoint {
  return defineEndpoint({
    method: "POST",
    path: "/attestations/schemas",
    operationId: "publishAttestationSchema",
    summary: "Publish or replace an attestation schema",
    description:
      "The first publisher of a hash owns it and may replace it. Without schema_hash, the hash is that of the schema's canonical form.",
    tag: "Attestations",
    parameters: authority.headers,
    body: BODY,
    bodyBytesMax: BODY_BYTES_MAX,
    responses: { 201: schemaResponse },
    errorStatuses: [401, 403, 409],
    security: authority.security,
    async handle(request) {
      const publication = readPublication(request.body);
      const { signer, claimVersion } = await authority.authorize(
        request,
        schemaWriteSubject(publication.schemaHash),
        null,
      );
      const bytes = countStoredBytes(request.rawBody);
      const change = { client: request.client, tables: ["attestation_schemas"] } as const;
      const record = await store.write(change, async (rows) => {
        await rows.charge(bytes, mayUseReserve(rows, signer));
        await claimVersion(rows);
        return publish(rows, { ...publication, signer, bytes });
      });
      return { status: 201, body: record };
    },
  });
}

function readPublication(body: TypeOf<typeof BODY>): Publication {
  const { name, schema_hash, description = null, json_schema = null, recommended_subject = null } = body;
  if (json_schema !== null) assertJsonSchema(json_schema);
  const jsonSchema = toCanonicalJson(json_schema ?? {});
  const size = Buffer.byteLength(jsonSchema);
  if (size > SCHEMA_BYTES_MAX) {
    throw new Fault("BODY_TOO_LARGE", `json_schema has ${size} bytes; the limit is ${SCHEMA_BYTES_MAX}.`);
  }
  const given = schema_hash ?? null;
  if (given === null && json_schema === null) {
    throw new Fault("INPUT_INVALID", "Either json_schema or schema_hash is required.");
  }
  return {
    schemaHash: given === null ? keccak256(stringToBytes(jsonSchema)) : parseHash(given, "schema_hash"),
    name,
    description,
    jsonSchema,
    recommendedSubject: recommended_subject,
  };
}

async function publish(
  rows: StatementRunner,
  schema: Publication & { readonly signer: Hex | null; readonly bytes: number },
): Promise<unknown> {
  const { schemaHash, name, description, jsonSchema, recommendedSubject, signer, bytes } = schema;
  const taken = await rows.run(
    sql`select 1 from attestation_schemas where built_in and (schema_hash = ${schemaHash} or lower(name) = lower(${name}))`,
  );
  if (taken.length > 0) throw new Fault("CONFLICT", "A built-in schema has this hash or name.");
  // Open mode has no signer: anyone may replace any schema.
  const isOwn = signer === null ? sql`true` : sql`attestation_schemas.publisher = ${signer}`;
  const [stored] = await rows.run(
    sql`insert into attestation_schemas (schema_hash, name, description, json_schema, recommended_subject, publisher, stored_bytes) values (${schemaHash}, ${name}, ${description}, ${jsonSchema}::jsonb, ${recommendedSubject}, ${signer}, ${bytes}) on conflict (schema_hash) do update set name = excluded.name, description = excluded.description, json_schema = excluded.json_schema, recommended_subject = excluded.recommended_subject, stored_bytes = excluded.stored_bytes, updated_at = now(), referred_at = now() where ${isOwn} returning ${schemaColumnsSql}`,
  );
  if (!stored) throw new Fault("CONFLICT", "Another publisher owns this schema hash.");
  return stored;
}

const BODY = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: SCHEMA_NAME_LENGTH_MAX },
    schema_hash: {
      ...nullable(hashParameter.json),
      description: "Default: keccak256 of the RFC 8785 form of json_schema.",
    },
    description: nullable({ type: "string", maxLength: SCHEMA_DESCRIPTION_LENGTH_MAX }),
    json_schema: {
      ...nullable({ type: "object" }),
      description: "JSON Schema 2020-12 without external references.",
    },
    recommended_subject: nullable({ type: "string", maxLength: SCHEMA_NAME_LENGTH_MAX }),
  },
  required: ["name"],
} as const;
