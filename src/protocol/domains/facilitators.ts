// Facilitators, which settle payments for others. CommerceRegistry → facilitators.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { update, upsert } from "../../schema/change.ts";
import { address, bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import { addCommerceTotals, countDelta } from "./commerce-totals.ts";

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
