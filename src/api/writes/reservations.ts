// Reservations: an owner's metadata for an intent that is not indexed yet, linked by its hash as soon as it is.
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseHash } from "../../lib/hex.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { nullable } from "../../schema/json-schema.ts";
import { addressParameter, hashParameter } from "../../schema/parameter.ts";
import type { Read } from "../../schema/reads/read.ts";
import { isValidAt } from "../../schema/reads/record.ts";
import { toFirstRecord } from "../../schema/reads/result-rows.ts";
import { countStoredBytes, type StatementRunner } from "../../schema/record-store.ts";
import { rawSql, sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { findIntentByHash } from "./find-intent.ts";
import {
  hashExecutionData,
  METADATA_BODY_BYTES_MAX,
  type MetadataFields,
  metadataProperties,
  metadataRecordSchema,
  parseMetadataFields,
} from "./metadata-fields.ts";
import { reservationWriteSubject } from "./sign-write.ts";

const ANSWER = metadataRecordSchema("IntentMetadataReservation", {
  intent_hash: { type: "string" },
  owner: { type: "string" },
  intent_id: {
    ...nullable({ type: "string" }),
    description: "Null until the intent is indexed.",
  },
});

export function createReservationEndpoint({ store, authority }: WriteOptions): Endpoint {
  return {
    method: "POST",
    path: "/intents/metadata",
    operationId: "reserveIntentMetadata",
    summary: "Reserve the execution metadata of an intent before it is indexed; its owner signs",
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
    responses: { 201: ANSWER },
    errorStatuses: [401, 403, 409],
    async handle(request) {
      const body = request.body as Readonly<Record<string, unknown>>;
      const hash = parseHash(body.intent_hash, "intent_hash");
      const owner = parseAddress(body.owner, "owner");
      const fields = parseMetadataFields(body);
      const { claimVersion: claim } = await authority.authorize(
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
            `This intent is indexed already; use PUT /intents/${intent.intent_id}/metadata.`,
          );
        }
        await rows.charge(bytes);
        await claim(rows);
        return reserve(rows, { hash, owner, fields, bytes });
      });
      return { status: 201, body: record };
    },
  };
}

const FIELDS = rawSql(
  "execution_target, execution_data, required_attestation_subject, required_attestation_schema",
);

type Reservation = {
  readonly hash: Hex;
  readonly owner: Hex;
  readonly fields: MetadataFields;
  readonly bytes: number;
};

async function reserve(rows: StatementRunner, { hash, owner, fields, bytes }: Reservation): Promise<unknown> {
  const { execution_target, execution_data, required_attestation_subject, required_attestation_schema } =
    fields;
  const [record] = await rows.run(
    sql`insert into intent_reservations (intent_hash, owner, execution_data_hash, stored_bytes, ${FIELDS}) values (${hash}, ${owner}, ${hashExecutionData(fields)}, ${bytes}, ${execution_target}, ${execution_data}, ${required_attestation_subject}, ${required_attestation_schema}) on conflict (intent_hash, owner) do update set execution_data_hash = excluded.execution_data_hash, execution_target = excluded.execution_target, execution_data = excluded.execution_data, required_attestation_subject = excluded.required_attestation_subject, required_attestation_schema = excluded.required_attestation_schema, stored_bytes = excluded.stored_bytes, updated_at = now(), referred_at = now() returning intent_hash, owner, null as intent_id, ${FIELDS}, iso_time(created_at) as created_at, iso_time(updated_at) as updated_at`,
  );
  return record;
}

export const reservationRead: Read = {
  path: "/intents/metadata/:intentHash",
  operationId: "getIntentMetadataReservation",
  summary: "The reservation of metadata for an intent: the linked one, otherwise the newest",
  tag: "Intents",
  parameters: [
    {
      name: "intentHash",
      in: "path",
      required: true,
      kind: hashParameter,
      description: "EIP-712 struct hash of the intent.",
    },
    {
      name: "owner",
      in: "query",
      required: false,
      kind: addressParameter,
      description:
        "Only the reservation of this owner: anyone may reserve, and only the real owner's is ever linked.",
    },
  ],
  provenance: false,
  writableTables: ["intent_reservations"],
  responseSchema: ANSWER,
  notFoundMessage: "There is no reservation for this intent hash.",
  plan({ values, asOf }) {
    const owner = values.owner as string | undefined;
    const whose = owner === undefined ? sql`` : sql` and r.owner = ${owner}`;
    return {
      cost: "quick",
      sql: sql`select r.intent_hash, r.owner, t.intent_id, r.execution_target, r.execution_data, r.required_attestation_subject, r.required_attestation_schema, iso_time(r.created_at) as created_at, iso_time(r.updated_at) as updated_at
        from intent_reservations r left join intents t on t.intent_hash = r.intent_hash and t.owner = r.owner and ${isValidAt("t", asOf)}
          and (r.execution_data_hash is null or r.execution_data_hash = t.data_hash or t.data_hash = '0x' || repeat('0', 64))
        where r.intent_hash = ${values.intentHash as string}${whose} order by t.intent_id is null, r.updated_at desc, r.owner limit 1`,
      assemble: toFirstRecord,
    };
  },
};
