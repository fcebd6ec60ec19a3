// Execution metadata of intents: stored by the owner of an indexed intent, or reserved by hash before it is indexed.
import { keccak256 } from "viem";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseBytes, parseHash } from "../../lib/hex.ts";
import { METADATA_KEYS } from "../../protocol/reads/intents.ts";
import { defineEndpoint, type Endpoint } from "../../schema/endpoint.ts";
import { eachKey, type JsonSchema, nullable, titledRecord } from "../../schema/json-schema.ts";
import {
  addressParameter,
  hashParameter,
  pathParameter,
  queryParameter,
  uintParameter,
} from "../../schema/parameter.ts";
import { defineIndexRead, toFirstRecord } from "../../schema/reads/read.ts";
import { isValidAt } from "../../schema/reads/record.ts";
import { countStoredBytes, type StatementRunner } from "../../schema/record-store.ts";
import { equalsHex, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { mayUseReserve, metadataWriteSubject, reservationWriteSubject } from "./signed-write.ts";

type MetadataFields = Readonly<Record<(typeof METADATA_KEYS)[number], Hex | null>>;

// Larger calldata does not fit into a transaction of any supported chain.
const DATA_BYTES_MAX = 64 * 1024;
// Hex-encoded data plus the other fields of either body.
const METADATA_BODY_BYTES_MAX = 2 * DATA_BYTES_MAX + 4_096;

const metadataProperties = {
  execution_target: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" }),
  execution_data: nullable({
    type: "string",
    maxLength: 2 + DATA_BYTES_MAX * 2,
    pattern: "^0x([0-9a-fA-F]{2})*$",
  }),
  required_attestation_subject: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }),
  required_attestation_schema: nullable({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }),
};

function metadataRecordSchema<const Identity extends Readonly<Record<string, JsonSchema>>>(
  title: string,
  identity: Identity,
) {
  const time = { type: "string", format: "date-time" } as const;
  const metadata = eachKey(METADATA_KEYS, nullable({ type: "string" }));
  return titledRecord(title, { ...identity, ...metadata, created_at: time, updated_at: time });
}

function parseMetadataFields(body: Partial<Record<keyof MetadataFields, string | null>>): MetadataFields {
  const read = (key: keyof MetadataFields, parse: (value: unknown, name: string) => Hex): Hex | null =>
    body[key] === undefined || body[key] === null ? null : parse(body[key], key);
  return {
    execution_target: read("execution_target", parseAddress),
    execution_data: read("execution_data", (value, name) => parseBytes(value, name, DATA_BYTES_MAX)),
    required_attestation_subject: read("required_attestation_subject", parseHash),
    required_attestation_schema: read("required_attestation_schema", parseHash),
  };
}

function hashExecutionData({ execution_data: data }: MetadataFields): Hex | null {
  return data === null ? null : keccak256(data);
}

const NOT_COMMITTED = `0x${"0".repeat(64)}`;

/** Rejects data that differs from the hash the intent committed to on chain. The zero hash commits to nothing. */
function assertCommittedData(fields: MetadataFields, committed: Hex): void {
  const hash = hashExecutionData(fields);
  if (hash === null || committed === NOT_COMMITTED || hash === committed) return;
  throw new Fault(
    "HASH_MISMATCH",
    `execution_data has the hash ${hash}, but the intent committed to ${committed} on chain.`,
  );
}

const RESERVATION_SCHEMA = metadataRecordSchema("IntentMetadataReservation", {
  intent_hash: { type: "string" },
  owner: { type: "string" },
  intent_id: {
    ...nullable({ type: "string" }),
    description: "Null until the intent is indexed.",
  },
});

/** Stores metadata for an intent that is not indexed yet; its hash links it once the intent is. */
export function createReservationEndpoint({ store, authority }: WriteOptions): Endpoint {
  return defineEndpoint({
    method: "POST",
    path: "/intents/metadata",
    operationId: "reserveIntentMetadata",
    summary: "Reserve execution metadata for an intent that is not indexed yet; signed by its owner",
    description:
      "Stores what a solver needs for execution before the intent is on chain. It is linked to the intent of this hash and owner once that is indexed.",
    tag: "Intents",
    parameters: authority.headers.filter(({ required }) => required),
    body: {
      type: "object",
      properties: {
        intent_hash: { ...hashParameter.json, description: "EIP-712 struct hash of the intent." },
        owner: { ...addressParameter.json, description: "Owner of the intent." },
        ...metadataProperties,
      },
      required: ["intent_hash", "owner"],
    },
    bodyBytesMax: METADATA_BODY_BYTES_MAX,
    responses: { 201: RESERVATION_SCHEMA },
    errorStatuses: [401, 403, 409],
    security: authority.security,
    async handle(request) {
      const { body } = request;
      const hash = parseHash(body.intent_hash, "intent_hash");
      const owner = parseAddress(body.owner, "owner");
      const fields = parseMetadataFields(body);
      const { signer, claimVersion } = await authority.authorize(
        request,
        reservationWriteSubject(hash),
        owner,
      );
      const bytes = countStoredBytes(request.rawBody);
      const change = { client: request.client, tables: ["intent_reservations"] } as const;
      const record = await store.write(change, async (rows) => {
        const intent = await findIntentByHash(rows, hash);
        if (intent) {
          throw new Fault(
            "CONFLICT",
            `This intent is already indexed; use PUT /intents/${intent.intent_id}/metadata.`,
          );
        }
        await rows.charge(bytes, mayUseReserve(rows, signer));
        await claimVersion(rows);
        return upsert(rows, "intent_reservations", {
          key: { intent_hash: hash, owner },
          values: { ...fields, execution_data_hash: hashExecutionData(fields), stored_bytes: bytes },
          identity: sql`intent_hash, owner, null as intent_id`,
        });
      });
      return { status: 201, body: record };
    },
  });
}

const FIELDS = rawSql(METADATA_KEYS.join(", "));

type Values = Readonly<Record<string, SqlValue>>;

/** Stores the values under the key, in place of earlier ones; returns the record, which begins with what `identity` selects. */
async function upsert(
  rows: StatementRunner,
  table: "intent_metadata" | "intent_reservations",
  { key, values, identity }: { readonly key: Values; readonly values: Values; readonly identity: SqlText },
): Promise<unknown> {
  const all = { ...key, ...values };
  const listNames = (named: Values) => rawSql(Object.keys(named).join(", "));
  const given = joinSql(
    Object.values(all).map((value) => sql`${value}`),
    ", ",
  );
  const replaced = Object.keys(values).map((name) => `${name} = excluded.${name}`);
  const [record] = await rows.run(
    sql`insert into ${rawSql(table)} (${listNames(all)}) values (${given}) on conflict (${listNames(key)}) do update set ${rawSql(replaced.join(", "))}, updated_at = now(), referred_at = now()
      returning ${identity}, ${FIELDS}, iso_time(created_at) as created_at, iso_time(updated_at) as updated_at`,
  );
  return record;
}

export const reservationRead = defineIndexRead({
  path: "/intents/metadata/:intentHash",
  operationId: "getIntentMetadataReservation",
  summary: "Get the metadata reservation of an intent: the linked one, otherwise the newest",
  description: "The metadata reserved for the hash, and the id of the intent once it is indexed.",
  tag: "Intents",
  parameters: [
    pathParameter("intentHash", hashParameter, "EIP-712 struct hash of the intent."),
    queryParameter(
      "owner",
      addressParameter,
      "Filter by owner. Anyone may reserve; only the reservation of the intent's owner is linked.",
    ),
  ],
  provenance: false,
  writableTables: ["intent_reservations"],
  showsOwnWrites: true,
  responseSchema: RESERVATION_SCHEMA,
  notFoundMessage: "No reservation exists for this intent hash.",
  plan({ values, asOf }) {
    const ofOwner = values.owner === undefined ? sql`` : sql` and r.owner = ${values.owner}`;
    return {
      cost: "quick",
      sql: sql`select r.intent_hash, r.owner, t.intent_id, r.execution_target, r.execution_data, r.required_attestation_subject, r.required_attestation_schema, iso_time(r.created_at) as created_at, iso_time(r.updated_at) as updated_at
        from intent_reservations r left join intents t on t.intent_hash = stored_hex(t.intent_hash, r.intent_hash) and t.owner = stored_hex(t.owner, r.owner) and ${isValidAt("t", asOf)}
          and (r.execution_data_hash is null or hex_text(t.data_hash) in (r.execution_data_hash, '0x' || repeat('0', 64)))
        where r.intent_hash = ${values.intentHash}${ofOwner} order by t.intent_id is null, r.updated_at desc, r.owner limit 1`,
      assemble: toFirstRecord,
    };
  },
});

export function createMetadataEndpoint({ store, authority }: WriteOptions): Endpoint {
  return defineEndpoint({
    method: "PUT",
    path: "/intents/:id/metadata",
    operationId: "putIntentMetadata",
    summary: "Store the execution metadata of an indexed intent; signed by its owner",
    description:
      "Replaces what a solver needs for execution. Data must have the hash that the intent committed to on chain.",
    tag: "Intents",
    parameters: [intentIdParameter, ...authority.headers.filter(({ required }) => required)],
    body: { type: "object", properties: metadataProperties },
    bodyBytesMax: METADATA_BODY_BYTES_MAX,
    responses: { 200: metadataRecordSchema("IntentMetadata", { intent_id: { type: "string" } }) },
    errorStatuses: [401, 403, 409],
    security: authority.security,
    // The owner has the receipt of the intent before the index has its block.
    readsIndex: true,
    async handle(request) {
      const { id } = request.values;
      const fields = parseMetadataFields(request.body);
      const intent = await requireIntent(store, id);
      const { signer, claimVersion } = await authority.authorize(
        request,
        metadataWriteSubject(id),
        intent.owner,
      );
      const bytes = countStoredBytes(request.rawBody);
      const change = { client: request.client, tables: ["intent_metadata"] } as const;
      const record = await store.write(change, async (rows) => {
        // A reorg may have assigned the id to another intent while the signature was verified.
        const current = await requireIntent(rows, id);
        if (current.intent_hash !== intent.intent_hash) {
          throw new Fault(
            "CONFLICT",
            "A chain reorganization replaced this intent; read it again and retry.",
          );
        }
        assertCommittedData(fields, current.data_hash);
        await rows.charge(bytes, mayUseReserve(rows, signer));
        await claimVersion(rows);
        return upsert(rows, "intent_metadata", {
          key: { intent_hash: current.intent_hash },
          values: { ...fields, stored_bytes: bytes },
          identity: sql`${current.intent_id} as intent_id`,
        });
      });
      return { status: 200, body: record };
    },
  });
}

async function requireIntent(rows: StatementRunner, id: string): Promise<IndexedIntent> {
  const intent = await findIntentById(rows, id);
  if (!intent) throw new Fault("NOT_FOUND", "No intent has this id.");
  return intent;
}

/** The indexed intent that a write refers to. */
type IndexedIntent = {
  readonly intent_id: string;
  readonly intent_hash: Hex;
  readonly owner: Hex;
  readonly data_hash: Hex;
};

export const intentIdParameter = pathParameter("id", uintParameter(), "Intent id.");

export function findIntentById(rows: StatementRunner, id: string): Promise<IndexedIntent | null> {
  return findFirst(rows, sql`intent_id = ${id}`);
}

function findIntentByHash(rows: StatementRunner, hash: Hex): Promise<IndexedIntent | null> {
  return findFirst(rows, equalsHex("intent_hash", hash));
}

async function findFirst(rows: StatementRunner, condition: SqlText): Promise<IndexedIntent | null> {
  const found = await rows.run<IndexedIntent>(
    sql`select intent_id, intent_hash, owner, data_hash from intents where ${condition} and valid_to is null order by intent_id limit 1`,
  );
  return found[0] ?? null;
}
