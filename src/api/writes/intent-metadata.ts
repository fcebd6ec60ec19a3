// PUT /intents/:id/metadata: what the owner of an indexed intent wants a solver to know, replaced as a whole.
import { Fault } from "../../lib/fault.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { countStoredBytes, type StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { findIntentById, type IndexedIntent, intentIdParameter } from "./find-intent.ts";
import {
  assertCommittedData,
  METADATA_BODY_BYTES_MAX,
  type MetadataFields,
  metadataProperties,
  metadataRecordSchema,
  parseMetadataFields,
} from "./metadata-fields.ts";
import { metadataWriteSubject } from "./sign-write.ts";

export function createMetadataEndpoint({ store, authority }: WriteOptions): Endpoint {
  return {
    method: "PUT",
    path: "/intents/:id/metadata",
    operationId: "putIntentMetadata",
    summary: "Store the execution metadata of an indexed intent; its owner signs",
    tag: "Intents",
    parameters: [intentIdParameter, ...authority.headers.filter(({ required }) => required)],
    body: { type: "object", properties: metadataProperties },
    bodyBytesMax: METADATA_BODY_BYTES_MAX,
    responses: { 200: metadataRecordSchema("IntentMetadata", { intent_id: { type: "string" } }) },
    errorStatuses: [401, 403, 409],
    async handle(request) {
      const id = request.values.id as string;
      const fields = parseMetadataFields(request.body as Readonly<Record<string, unknown>>);
      const intent = await known(store, id);
      const { claimVersion: claim } = await authority.authorize(
        request,
        metadataWriteSubject(id),
        intent.owner,
      );
      const bytes = countStoredBytes(request.rawBody);
      const change = { client: request.client, tables: ["intent_metadata"] } as const;
      const record = await store.write(change, async (rows) => {
        // A reorg may have given the number to another intent while the signature was checked.
        const current = await known(rows, id);
        if (current.intent_hash !== intent.intent_hash) {
          throw new Fault(
            "CONFLICT",
            "A reorganisation of the chain has just replaced this intent; look again.",
          );
        }
        assertCommittedData(fields, current.data_hash);
        await rows.charge(bytes);
        await claim(rows);
        return write(rows, current, fields, bytes);
      });
      return { status: 200, body: record };
    },
  };
}

async function known(rows: StatementRunner, id: string): Promise<IndexedIntent> {
  const intent = await findIntentById(rows, id);
  if (!intent) throw new Fault("NOT_FOUND", "There is no intent with this id.");
  return intent;
}

async function write(
  rows: StatementRunner,
  intent: IndexedIntent,
  fields: MetadataFields,
  bytes: number,
): Promise<unknown> {
  const { execution_target, execution_data, required_attestation_subject, required_attestation_schema } =
    fields;
  const [record] = await rows.run(
    sql`insert into intent_metadata (intent_hash, stored_bytes, execution_target, execution_data, required_attestation_subject, required_attestation_schema) values (${intent.intent_hash}, ${bytes}, ${execution_target}, ${execution_data}, ${required_attestation_subject}, ${required_attestation_schema}) on conflict (intent_hash) do update set execution_target = excluded.execution_target, execution_data = excluded.execution_data, required_attestation_subject = excluded.required_attestation_subject, required_attestation_schema = excluded.required_attestation_schema, stored_bytes = excluded.stored_bytes, updated_at = now(), referred_at = now() returning ${intent.intent_id} as intent_id, execution_target, execution_data, required_attestation_subject, required_attestation_schema, iso_time(created_at) as created_at, iso_time(updated_at) as updated_at`,
  );
  return record;
}
