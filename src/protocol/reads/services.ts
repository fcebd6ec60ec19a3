// Services as answers: /services/:id and /services.

import { boolParameter, hashParameter, uintParameter } from "../../schema/parameter.ts";
import { equals, list, unchanging } from "../../schema/reads/list.ts";
import { columns, one, record } from "../../schema/reads/record.ts";
import { services } from "../domains/services.ts";

const service = record({
  name: "Service",
  table: services,
  fields: columns(services, [
    "service_numeric_id",
    "merchant_id",
    "service_id",
    "metadata_uri",
    "metadata_hash",
    "capability_hash",
    "active",
    "block_number",
  ]),
});

export const serviceReads = [
  one("/services/:id", service, {
    operation: "getService",
    summary: "One service, by its number",
    tag: "Commerce",
    parameter: "id",
    kind: uintParameter(),
    column: "service_numeric_id",
    missing: "There is no service with this id.",
  }),
  list("/services", service, {
    operation: "listServices",
    summary: "Services, by number",
    tag: "Commerce",
    key: "services",
    order: { direction: "asc", keys: [{ sql: "t.service_numeric_id", cast: "numeric" }] },
    filters: {
      merchant_id: unchanging(services, "merchant_id", uintParameter(), "Only those of this merchant."),
      capability_hash: equals("capability_hash", hashParameter, "Only those with this capability."),
      active: equals("active", boolParameter, "Only those that are, or are not, active."),
    },
  }),
];
