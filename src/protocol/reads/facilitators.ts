// Facilitators as answers: /facilitators.

import { boolParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord } from "../../schema/reads/record.ts";
import { facilitators } from "../domains/facilitators.ts";

const facilitator = defineRecord({
  name: "Facilitator",
  table: facilitators,
  fields: columnFields(facilitators, [
    "facilitator_id",
    "facilitator",
    "metadata_uri",
    "metadata_hash",
    "active",
    "block_number",
  ]),
});

export const facilitatorReads = [
  defineList("/facilitators", facilitator, {
    operationId: "listFacilitators",
    summary: "Facilitators, by id",
    tag: "Commerce",
    key: "facilitators",
    order: { direction: "asc", keys: [{ sql: "t.facilitator_id", cast: "numeric" }] },
    filters: { active: equalsFilter("active", boolParameter, "Only those that are, or are not, active.") },
  }),
];
