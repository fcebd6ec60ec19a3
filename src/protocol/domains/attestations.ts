// Attestations, and the activity of each attester. AttestationRegistry → attestations, attester_activity.
import { attestationRegistryAbi as abi } from "@sextant/contracts/generated/attestation-registry";
import type { Hex } from "../../lib/hex.ts";
import { addAmounts, insert, update } from "../../schema/change.ts";
import { address, bool, bytes32, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { defineDetails } from "../../schema/event-details.ts";
import { addressPart, hashPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineRollup, defineTable } from "../../schema/table.ts";
import { countActivity } from "./activity.ts";

export const attestations = defineTable(
  "attestations",
  {
    attestation_id: uint256,
    attester: address,
    schema_hash: bytes32,
    subject: bytes32,
    data_hash: bytes32,
    timestamp: uint63,
    revoked: bool,
  },
  {
    key: ["attestation_id"],
    countsUp: true,
    index: [
      ["schema_hash", "attestation_id"],
      ["subject", "attestation_id"],
      ["attester", "attestation_id"],
    ],
  },
);

// Keyed by address, not by attestor id: an attestor may attest before it registers.
export const attesterActivity = defineRollup(
  "attester_activity",
  { attester: address, attestations: uint63, revoked_attestations: uint63 },
  { key: ["attester"], history: "full" },
);

// The event leaves out the data hash. Only `revoked` of the record ever changes, and it is false at the event.
const submission = defineDetails({
  abi,
  call: "submitAttestation",
  fromCall: ([, , dataHash]) => dataHash,
  callMatches: ([schema, subject], event: { id: bigint; attester: Hex; schema: Hex; subject: Hex }) =>
    schema === event.schema && subject === event.subject,
  view: "getAttestation",
  viewArgs: ({ id }) => [id] as const,
  fromView: ({ dataHash }) => dataHash,
  viewMatches: ({ attester, schema, subject }, event) =>
    attester.toLowerCase() === event.attester && schema === event.schema && subject === event.subject,
  asEmitted: (attestation) => ({ ...attestation, revoked: false }),
});

export const attestationsDomain = defineDomain({
  contract: "AttestationRegistry",
  abi,
  tables: [attestations, attesterActivity],
  events: {
    AttestationSubmitted: {
      details: submission,
      fold: ({ args, details, timestamp }) => [
        insert(attestations, {
          attestation_id: args.id,
          attester: args.attester,
          schema_hash: args.schema,
          subject: args.subject,
          data_hash: details(submission),
          timestamp,
          revoked: false,
        }),
        addAmounts(attesterActivity, { attester: args.attester }, { attestations: 1n }),
        ...countActivity(timestamp, { attestations: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Attestation ${recordPart("attestation", args.id)} submitted by ${addressPart(args.attester)} about ${hashPart(args.subject)}`,
    },
    AttestationRevoked: {
      requiredRows: ({ args }) => [requireRow(attestations, { attestation_id: args.id })],
      fold: ({ args, find }) => {
        const attestation = find(attestations, { attestation_id: args.id });
        if (!attestation) throw new Error(`attestation ${args.id} is revoked, but was never submitted`);
        return [
          update(attestations, { attestation_id: args.id }, { revoked: true }),
          addAmounts(attesterActivity, { attester: attestation.attester }, { revoked_attestations: 1n }),
        ];
      },
      explain: ({ args }) =>
        sentence`Attestation ${recordPart("attestation", args.id)} revoked by its attester`,
    },
  },
});
