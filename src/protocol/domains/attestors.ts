// Attestors and the schemas they serve. AttestorRegistry → attestors.
import { attestorRegistryAbi as abi } from "@sextant/contracts/generated/attestor-registry";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { addressPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countActivity } from "./activity.ts";

export const attestors = defineTable(
  "attestors",
  {
    attestor_id: uint256,
    operator: address,
    metadata_uri: unboundedText,
    schemas_hash: bytes32,
    active: bool,
  },
  {
    key: ["attestor_id"],
    countsUp: true,
    index: [
      ["operator", "attestor_id"],
      ["active", "attestor_id"],
    ],
  },
);

export const attestorsDomain = defineDomain({
  contract: "AttestorRegistry",
  abi,
  tables: [attestors],
  events: {
    AttestorRegistered: {
      fold: ({ args, timestamp }) => [
        insert(attestors, {
          attestor_id: args.attestorId,
          operator: args.operator,
          metadata_uri: args.metadataURI,
          schemas_hash: args.schemasHash,
          active: true,
        }),
        ...countActivity(timestamp, { attestors: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Attestor ${recordPart("attestor", args.attestorId)} registered by ${addressPart(args.operator)}`,
    },
    AttestorUpdated: {
      fold: ({ args }) => [
        update(
          attestors,
          { attestor_id: args.attestorId },
          { metadata_uri: args.metadataURI, schemas_hash: args.schemasHash, active: args.active },
        ),
      ],
      explain: ({ args }) =>
        sentence`Attestor ${recordPart("attestor", args.attestorId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
