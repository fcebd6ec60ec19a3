// Facilitators: who settles payments for others. CommerceRegistry → facilitators.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { put, update } from "../../schema/change.ts";
import { address, bool, bytes32, text, uint256 } from "../../schema/column.ts";
import { domain, need } from "../../schema/domain.ts";
import { table } from "../../schema/table.ts";
import { addTotals, switched } from "./commerce-totals.ts";

export const facilitators = table(
  "facilitators",
  { facilitator_id: uint256, facilitator: address, metadata_uri: text, metadata_hash: bytes32, active: bool },
  { key: ["facilitator_id"], index: [["active", "facilitator_id"], ["facilitator"]] },
);

export const facilitatorsDomain = domain({
  contract: "CommerceRegistry",
  abi,
  tables: [facilitators],
  events: {
    // Registering again keeps the id, replaces the metadata and makes the facilitator active.
    FacilitatorRegistered: {
      needs: ({ args }) => [need(facilitators, { facilitator_id: args.facilitatorId })],
      fold: ({ args, find }) => {
        const before = find(facilitators, { facilitator_id: args.facilitatorId });
        return [
          put(facilitators, {
            facilitator_id: args.facilitatorId,
            facilitator: args.facilitator,
            metadata_uri: args.metadataURI,
            metadata_hash: args.metadataHash,
            active: true,
          }),
          addTotals({
            facilitators: before ? 0n : 1n,
            active_facilitators: switched(before?.active ?? false, true),
          }),
        ];
      },
      explain: ({ args }) => `Facilitator #${args.facilitatorId} registered for ${args.facilitator}`,
    },
    FacilitatorUpdated: {
      needs: ({ args }) => [need(facilitators, { facilitator_id: args.facilitatorId })],
      fold: ({ args, find }) => {
        const before = find(facilitators, { facilitator_id: args.facilitatorId });
        return [
          update(
            facilitators,
            { facilitator_id: args.facilitatorId },
            { metadata_uri: args.metadataURI, metadata_hash: args.metadataHash, active: args.active },
          ),
          addTotals({ active_facilitators: switched(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        `Facilitator #${args.facilitatorId} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
