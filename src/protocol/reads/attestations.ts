// Attestations as answers: /attestations/:id and /attestations.

import { addressParameter, hashParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { attestations } from "../domains/attestations.ts";

const attestation = defineRecord({
  name: "Attestation",
  table: attestations,
  fields: columnFields(attestations, [
    "attestation_id",
    "attester",
    "schema_hash",
    "subject",
    "data_hash",
    "timestamp",
    "revoked",
    "block_number",
  ]),
});

export const attestationReads = [
  defineRecordRead("/attestations/:id", attestation, {
    operationId: "getAttestation",
    summary: "One attestation",
    tag: "Attestations",
    parameter: "id",
    kind: uintParameter(),
    column: "attestation_id",
    notFoundMessage: "There is no attestation with this id.",
  }),
  defineList("/attestations", attestation, {
    operationId: "listAttestations",
    summary: "Attestations, by id",
    tag: "Attestations",
    key: "attestations",
    order: { direction: "asc", keys: [{ sql: "t.attestation_id", cast: "numeric" }] },
    filters: {
      schema: immutableFilter(attestations, "schema_hash", hashParameter, "Only of this schema."),
      subject: immutableFilter(attestations, "subject", hashParameter, "Only about this subject."),
      attester: immutableFilter(attestations, "attester", addressParameter, "Only by this attester."),
    },
  }),
];
