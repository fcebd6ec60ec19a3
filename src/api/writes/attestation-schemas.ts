// Attestation schemas: what an attestation under a schema hash means, published by whoever describes it first.
import { type Hex, keccak256, stringToBytes } from "viem";
import { Fault } from "../../lib/fault.ts";
import { parseHash } from "../../lib/hex.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { nullable } from "../../schema/json-schema.ts";
import { hashParameter } from "../../schema/parameter.ts";
import { countStoredBytes, type StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { toCanonicalJson } from "./canonical-json.ts";
import {
  SCHEMA_DESCRIPTION_LENGTH_MAX,
  SCHEMA_NAME_LENGTH_MAX,
  schemaColumnsSql,
  schemaResponse,
} from "./schema-record.ts";
import { schemaWriteSubject } from "./sign-write.ts";
import { assertJsonSchema } from "./validate-json-schema.ts";

// The same room that a hosted document gets half of: a schema is read far more often than it is written.
const SCHEMA_BYTES_MAX = 64 * 1024;
// Indented, a schema is up to three times as long as its canonical text; the other fields need less than that leaves.
const BODY_BYTES_MAX = 3 * SCHEMA_BYTES_MAX;

type Publication = {
  readonly schemaHash: Hex;
  readonly name: string;
  readonly description: string | null;
  /** Canonical text. */
  readonly jsonSchema: string;
  readonly recommendedSubject: string | null;
};

export function createSchemaEndpoint({ store, authority }: WriteOptions): Endpoint {
  return {
    method: "POST",
    path: "/attestations/schemas",
    operationId: "publishAttestationSchema",
    summary: "Publish an attestation schema, or replace one's own",
    tag: "Attestations",
    parameters: authority.headers,
    body: BODY,
    bodyBytesMax: BODY_BYTES_MAX,
    responses: { 201: schemaResponse },
    errorStatuses: [401, 403, 409],
    async handle(request) {
      const publication = readPublication(request.body as Readonly<Record<string, unknown>>);
      const { signer, claimVersion: claim } = await authority.authorize(
        request,
        schemaWriteSubject(publication.schemaHash),
        null,
      );
      const bytes = countStoredBytes(request.rawBody);
      const change = { client: request.client, tables: ["attestation_schemas"] } as const;
      const record = await store.write(change, async (rows) => {
        await rows.charge(bytes);
        await claim(rows);
        return publish(rows, { ...publication, signer, bytes });
      });
      return { status: 201, body: record };
    },
  };
}

function readPublication(body: Readonly<Record<string, unknown>>): Publication {
  const { name, schema_hash, description = null, json_schema = null, recommended_subject = null } = body;
  if (json_schema !== null) assertJsonSchema(json_schema as Readonly<Record<string, unknown>>);
  const jsonSchema = toCanonicalJson(json_schema ?? {});
  const size = Buffer.byteLength(jsonSchema);
  if (size > SCHEMA_BYTES_MAX) {
    throw new Fault(
      "BODY_TOO_LARGE",
      `json_schema has ${size} bytes; at most ${SCHEMA_BYTES_MAX} are taken.`,
    );
  }
  const given = schema_hash ?? null;
  if (given === null && json_schema === null) {
    throw new Fault("INPUT_INVALID", "Either json_schema or schema_hash is required: one names the schema.");
  }
  return {
    schemaHash: given === null ? keccak256(stringToBytes(jsonSchema)) : parseHash(given, "schema_hash"),
    name: name as string,
    description: description as string | null,
    jsonSchema,
    recommendedSubject: recommended_subject as string | null,
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
  // In open mode nobody signs, and everybody may replace everything.
  const mine = signer === null ? sql`true` : sql`attestation_schemas.publisher = ${signer}`;
  const [stored] = await rows.run(
    sql`insert into attestation_schemas (schema_hash, name, description, json_schema, recommended_subject, publisher, stored_bytes) values (${schemaHash}, ${name}, ${description}, ${jsonSchema}::jsonb, ${recommendedSubject}, ${signer}, ${bytes}) on conflict (schema_hash) do update set name = excluded.name, description = excluded.description, json_schema = excluded.json_schema, recommended_subject = excluded.recommended_subject, stored_bytes = excluded.stored_bytes, updated_at = now(), referred_at = now() where ${mine} returning ${schemaColumnsSql}`,
  );
  if (!stored) throw new Fault("CONFLICT", "Someone else has published a schema under this hash.");
  return stored;
}

const BODY = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: SCHEMA_NAME_LENGTH_MAX },
    schema_hash: {
      ...nullable(hashParameter.json),
      description: "Without it, keccak256 of the RFC 8785 text of json_schema.",
    },
    description: nullable({ type: "string", maxLength: SCHEMA_DESCRIPTION_LENGTH_MAX }),
    json_schema: {
      ...nullable({ type: "object" }),
      description: "JSON Schema 2020-12, without references to the outside.",
    },
    recommended_subject: nullable({ type: "string", maxLength: SCHEMA_NAME_LENGTH_MAX }),
  },
  required: ["name"],
};
