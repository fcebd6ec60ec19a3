// Attestors as answers: /attestors/:id and /attestors, with what their operators have attested.

import { addressParameter, boolParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, computedField, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { attesterActivity } from "../domains/attestations.ts";
import { attestors } from "../domains/attestors.ts";

const COUNT = { type: "string", pattern: "^[0-9]+$" };

const attestor = defineRecord({
  name: "Attestor",
  table: attestors,
  // By address: what an operator attested before it registered counts too.
  joins: [{ table: attesterActivity, alias: "a", on: "a.attester = t.operator" }],
  fields: {
    ...columnFields(attestors, ["attestor_id", "operator", "metadata_uri", "schemas_hash", "active"]),
    attestations: computedField("coalesce(a.attestations, 0)", COUNT),
    revoked_attestations: computedField("coalesce(a.revoked_attestations, 0)", COUNT),
    ...columnFields(attestors, ["block_number"]),
  },
});

export const attestorReads = [
  defineRecordRead("/attestors/:id", attestor, {
    operationId: "getAttestor",
    summary: "One attestor",
    tag: "Attestors",
    parameter: "id",
    kind: uintParameter(),
    column: "attestor_id",
    notFoundMessage: "There is no attestor with this id.",
  }),
  defineList("/attestors", attestor, {
    operationId: "listAttestors",
    summary: "Attestors, by id",
    tag: "Attestors",
    key: "attestors",
    order: { direction: "asc", keys: [{ sql: "t.attestor_id", cast: "numeric" }] },
    filters: {
      active: equalsFilter("active", boolParameter, "Only those that are, or are not, active."),
      operator: immutableFilter(attestors, "operator", addressParameter, "Only those of this operator."),
    },
  }),
];
