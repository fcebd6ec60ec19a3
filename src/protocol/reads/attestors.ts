// Attestors as answers: /attestors/:id and /attestors, with what their operators have attested.

import { addressParameter, boolParameter, uintParameter } from "../../schema/parameter.ts";
import { equals, list, unchanging } from "../../schema/reads/list.ts";
import { columns, computed, one, record } from "../../schema/reads/record.ts";
import { attesterActivity } from "../domains/attestations.ts";
import { attestors } from "../domains/attestors.ts";

const COUNT = { type: "string", pattern: "^[0-9]+$" };

const attestor = record({
  name: "Attestor",
  table: attestors,
  // By address: what an operator attested before it registered counts too.
  joins: [{ table: attesterActivity, alias: "a", on: "a.attester = t.operator" }],
  fields: {
    ...columns(attestors, ["attestor_id", "operator", "metadata_uri", "schemas_hash", "active"]),
    attestations: computed("coalesce(a.attestations, 0)", COUNT),
    revoked_attestations: computed("coalesce(a.revoked_attestations, 0)", COUNT),
    ...columns(attestors, ["block_number"]),
  },
});

export const attestorReads = [
  one("/attestors/:id", attestor, {
    operation: "getAttestor",
    summary: "One attestor",
    tag: "Attestors",
    parameter: "id",
    kind: uintParameter(),
    column: "attestor_id",
    missing: "There is no attestor with this id.",
  }),
  list("/attestors", attestor, {
    operation: "listAttestors",
    summary: "Attestors, by id",
    tag: "Attestors",
    key: "attestors",
    order: { direction: "asc", keys: [{ sql: "t.attestor_id", cast: "numeric" }] },
    filters: {
      active: equals("active", boolParameter, "Only those that are, or are not, active."),
      operator: unchanging(attestors, "operator", addressParameter, "Only those of this operator."),
    },
  }),
];
