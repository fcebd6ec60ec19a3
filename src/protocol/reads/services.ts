// Services as answers: /services/:id and /services.

import { boolParameter, hashParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { services } from "../domains/services.ts";

const service = defineRecord({
  name: "Service",
  table: services,
  fields: columnFields(services, [
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
  defineRecordRead("/services/:id", service, {
    operationId: "getService",
    summary: "One service, by its number",
    tag: "Commerce",
    parameter: "id",
    kind: uintParameter(),
    column: "service_numeric_id",
    notFoundMessage: "There is no service with this id.",
  }),
  defineList("/services", service, {
    operationId: "listServices",
    summary: "Services, by number",
    tag: "Commerce",
    key: "services",
    order: { direction: "asc", keys: [{ sql: "t.service_numeric_id", cast: "numeric" }] },
    filters: {
      merchant_id: immutableFilter(services, "merchant_id", uintParameter(), "Only those of this merchant."),
      capability_hash: equalsFilter("capability_hash", hashParameter, "Only those with this capability."),
      active: equalsFilter("active", boolParameter, "Only those that are, or are not, active."),
    },
  }),
];
