// PUT /intents/:id/metadata: what the owner of an indexed intent wants a solver to know, replaced as a whole.
import { Fault } from "../../lib/fault.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { type Rows, storedBytes } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import type { WriteOptions } from "./authority.ts";
import { findIntent, type IndexedIntent, intentInPath } from "./find-intent.ts";
import {
  METADATA_BODY_BYTES_MAX,
  type MetadataFields,
  metadataProperties,
  metadataRecord,
  readMetadata,
  refuseOtherData,
} from "./metadata-fields.ts";
import { putMetadata } from "./sign-write.ts";

export function metadataEndpoint({ store, authority }: WriteOptions): Endpoint {
  return {
    method: "PUT",
    path: "/intents/:id/metadata",
    operation: "putIntentMetadata",
    summary: "Store the execution metadata of an indexed intent; its owner signs",
    tag: "Intents",
    parameters: [intentInPath, ...authority.headers.filter(({ required }) => required)],
    body: { type: "object", properties: metadataProperties },
    bodyBytesMax: METADATA_BODY_BYTES_MAX,
    answers: { 200: metadataRecord("IntentMetadata", { intent_id: { type: "string" } }) },
    refusals: [401, 403, 409],
    async handle(request) {
      const id = request.values.id as string;
      const fields = readMetadata(request.body as Readonly<Record<string, unknown>>);
      const intent = await known(store, id);
      const { claim } = await authority.admit(request, putMetadata(id), intent.owner);
      const bytes = storedBytes(request.bytes);
      const change = { client: request.client, changes: ["intent_metadata"] } as const;
      const record = await store.change(change, async (rows) => {
        // A reorg may have given the number to another intent while the signature was checked.
        const current = await known(rows, id);
        if (current.intent_hash !== intent.intent_hash) {
          throw new Fault(
            "CONFLICT",
            "A reorganisation of the chain has just replaced this intent; look again.",
          );
        }
        refuseOtherData(fields, current.data_hash);
        await rows.charge(bytes);
        await claim(rows);
        return write(rows, current, fields, bytes);
      });
      return { status: 200, body: record };
    },
  };
}

async function known(rows: Rows, id: string): Promise<IndexedIntent> {
  const intent = await findIntent(rows, id);
  if (!intent) throw new Fault("NOT_FOUND", "There is no intent with this id.");
  return intent;
}

async function write(
  rows: Rows,
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
