// Services of merchants. CommerceRegistry → services.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { insert, update } from "../../schema/change.ts";
import { bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { quotedPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import { addCommerceTotals, countDelta } from "./commerce-totals.ts";

// The numeric id is the key: the live deployment lets two services of a merchant share a service_id.
export const services = defineTable(
  "services",
  {
    service_numeric_id: uint256,
    merchant_id: uint256,
    service_id: unboundedText,
    metadata_uri: unboundedText,
    metadata_hash: bytes32,
    capability_hash: bytes32,
    active: bool,
  },
  {
    key: ["service_numeric_id"],
    countsUp: true,
    index: [
      ["merchant_id", "service_numeric_id"],
      ["capability_hash", "service_numeric_id"],
      ["active", "service_numeric_id"],
    ],
  },
);

export const servicesDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [services],
  events: {
    ServiceRegistered: {
      fold: ({ args, timestamp }) => [
        insert(services, {
          service_numeric_id: args.serviceNumericId,
          merchant_id: args.merchantId,
          service_id: args.serviceId,
          metadata_uri: args.metadataURI,
          metadata_hash: args.metadataHash,
          capability_hash: args.capabilityHash,
          active: true,
        }),
        addCommerceTotals({ services: 1n, active_services: 1n }),
        countHour(timestamp, { services: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Service ${recordPart("service", args.serviceNumericId)} (${quotedPart(args.serviceId)}) registered by merchant ${recordPart("merchant", args.merchantId)}`,
    },
    ServiceUpdated: {
      requiredRows: ({ args }) => [requireRow(services, { service_numeric_id: args.serviceNumericId })],
      fold: ({ args, find }) => {
        const before = find(services, { service_numeric_id: args.serviceNumericId });
        return [
          update(
            services,
            { service_numeric_id: args.serviceNumericId },
            {
              metadata_uri: args.metadataURI,
              metadata_hash: args.metadataHash,
              capability_hash: args.capabilityHash,
              active: args.active,
            },
          ),
          addCommerceTotals({ active_services: countDelta(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        sentence`Service ${recordPart("service", args.serviceNumericId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
