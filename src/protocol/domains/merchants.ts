// Merchants, their services, and facilitators, which settle payments. CommerceRegistry → a table of each, and rollups.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { insert, update, upsert } from "../../schema/change.ts";
import { address, bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, quotedPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import {
  addCommerceTotals,
  commerceTotals,
  countDelta,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "./commerce-totals.ts";

export const merchants = defineTable(
  "merchants",
  {
    merchant_id: uint256,
    owner: address,
    payout_address: address,
    metadata_uri: unboundedText,
    metadata_hash: bytes32,
    active: bool,
  },
  {
    key: ["merchant_id"],
    countsUp: true,
    index: [
      ["owner", "merchant_id"],
      ["active", "merchant_id"],
    ],
  },
);

export const merchantsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [
    merchants,
    commerceTotals,
    tokenVolumes,
    railVolumes,
    facilitatorVolumes,
    serviceVolumes,
    merchantRecords,
  ],
  events: {
    MerchantRegistered: {
      fold: ({ args, timestamp }) => [
        insert(merchants, {
          merchant_id: args.merchantId,
          owner: args.owner,
          payout_address: args.payoutAddress,
          metadata_uri: args.metadataURI,
          metadata_hash: args.metadataHash,
          active: true,
        }),
        addCommerceTotals({ merchants: 1n, active_merchants: 1n }),
        countHour(timestamp, { merchants: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Merchant ${recordPart("merchant", args.merchantId)} registered by ${addressPart(args.owner)}`,
    },
    MerchantUpdated: {
      requiredRows: ({ args }) => [requireRow(merchants, { merchant_id: args.merchantId })],
      fold: ({ args, find }) => {
        const before = find(merchants, { merchant_id: args.merchantId });
        return [
          update(
            merchants,
            { merchant_id: args.merchantId },
            {
              payout_address: args.payoutAddress,
              metadata_uri: args.metadataURI,
              metadata_hash: args.metadataHash,
              active: args.active,
            },
          ),
          addCommerceTotals({ active_merchants: countDelta(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        sentence`Merchant ${recordPart("merchant", args.merchantId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});

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

export const facilitators = defineTable(
  "facilitators",
  {
    facilitator_id: uint256,
    facilitator: address,
    metadata_uri: unboundedText,
    metadata_hash: bytes32,
    active: bool,
  },
  {
    key: ["facilitator_id"],
    countsUp: true,
    index: [
      ["active", "facilitator_id"],
      ["facilitator", "facilitator_id"],
    ],
  },
);

export const facilitatorsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [facilitators],
  events: {
    // Registering again keeps the id, replaces the metadata and makes the facilitator active.
    FacilitatorRegistered: {
      requiredRows: ({ args }) => [requireRow(facilitators, { facilitator_id: args.facilitatorId })],
      fold: ({ args, timestamp, find }) => {
        const before = find(facilitators, { facilitator_id: args.facilitatorId });
        return [
          upsert(facilitators, {
            facilitator_id: args.facilitatorId,
            facilitator: args.facilitator,
            metadata_uri: args.metadataURI,
            metadata_hash: args.metadataHash,
            active: true,
          }),
          addCommerceTotals({
            facilitators: before ? 0n : 1n,
            active_facilitators: countDelta(before?.active ?? false, true),
          }),
          ...(before ? [] : [countHour(timestamp, { facilitators: 1n })]),
        ];
      },
      explain: ({ args }) =>
        sentence`Facilitator ${recordPart("facilitator", args.facilitatorId)} registered for ${addressPart(args.facilitator)}`,
    },
    FacilitatorUpdated: {
      requiredRows: ({ args }) => [requireRow(facilitators, { facilitator_id: args.facilitatorId })],
      fold: ({ args, find }) => {
        const before = find(facilitators, { facilitator_id: args.facilitatorId });
        return [
          update(
            facilitators,
            { facilitator_id: args.facilitatorId },
            { metadata_uri: args.metadataURI, metadata_hash: args.metadataHash, active: args.active },
          ),
          addCommerceTotals({ active_facilitators: countDelta(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        sentence`Facilitator ${recordPart("facilitator", args.facilitatorId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
