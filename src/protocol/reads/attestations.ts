// Attestations as answers: /attestations/:id and /attestations.

import { addressParameter, hashParameter, uintParameter } from "../../schema/parameter.ts";
import { list, unchanging } from "../../schema/reads/list.ts";
import { columns, one, record } from "../../schema/reads/record.ts";
import { attestations } from "../domains/attestations.ts";

const attestation = record({
  name: "Attestation",
  table: attestations,
  fields: columns(attestations, [
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
  one("/attestations/:id", attestation, {
    operation: "getAttestation",
    summary: "One attestation",
    tag: "Attestations",
    parameter: "id",
    kind: uintParameter(),
    column: "attestation_id",
    missing: "There is no attestation with this id.",
  }),
  list("/attestations", attestation, {
    operation: "listAttestations",
    summary: "Attestations, by id",
    tag: "Attestations",
    key: "attestations",
    order: { direction: "asc", keys: [{ sql: "t.attestation_id", cast: "numeric" }] },
    filters: {
      schema: unchanging(attestations, "schema_hash", hashParameter, "Only of this schema."),
      subject: unchanging(attestations, "subject", hashParameter, "Only about this subject."),
      attester: unchanging(attestations, "attester", addressParameter, "Only by this attester."),
    },
  }),
];
