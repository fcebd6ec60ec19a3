// Facilitators as answers: /facilitators.

import { boolParameter } from "../../schema/parameter.ts";
import { equals, list } from "../../schema/reads/list.ts";
import { columns, record } from "../../schema/reads/record.ts";
import { facilitators } from "../domains/facilitators.ts";

const facilitator = record({
  name: "Facilitator",
  table: facilitators,
  fields: columns(facilitators, [
    "facilitator_id",
    "facilitator",
    "metadata_uri",
    "metadata_hash",
    "active",
    "block_number",
  ]),
});

export const facilitatorReads = [
  list("/facilitators", facilitator, {
    operation: "listFacilitators",
    summary: "Facilitators, by id",
    tag: "Commerce",
    key: "facilitators",
    order: { direction: "asc", keys: [{ sql: "t.facilitator_id", cast: "numeric" }] },
    filters: { active: equals("active", boolParameter, "Only those that are, or are not, active.") },
  }),
];
