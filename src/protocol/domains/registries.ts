// Agents, solvers with their bonds, attestors and attestations: a registry each → a table of each.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi as abi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { toStorableText } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { addAmounts, insert, update } from "../../schema/change.ts";
import { address, bool, bytes, bytes32, uint63, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { defineDetails } from "../../schema/event-details.ts";
import { addressPart, amountPart, hashPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineRollup, defineTable, ZERO_ADDRESS } from "../../schema/table.ts";
import { activityHours, countActivity, protocolTotals } from "./activity.ts";

export const agents = defineTable(
  "agents",
  {
    agent_id: uint256,
    owner: address,
    metadata_uri: unboundedText,
    pubkey: bytes,
    capabilities_hash: bytes32,
    revoked: bool,
  },
  {
    key: ["agent_id"],
    countsUp: true,
    index: [
      ["owner", "agent_id"],
      ["revoked", "agent_id"],
    ],
  },
);

// The event has neither the public key nor the capabilities. The key never changes; an update replaces the
// capabilities, and then only the call, or the state before the update, has the first ones.
const registration = defineDetails({
  abi: agentRegistryAbi,
  call: "registerAgent",
  fromCall: ([, pubkey, capabilitiesHash]) => ({ pubkey, capabilitiesHash }),
  callMatches: ([metadataURI], event: { agentId: bigint; owner: Hex; metadataURI: string }) =>
    comparable(metadataURI) === comparable(event.metadataURI),
  view: "getAgent",
  viewArgs: ({ agentId }) => [agentId] as const,
  fromView: ({ pubkey, capabilitiesHash }) => ({ pubkey, capabilitiesHash }),
  viewMatches: ({ owner }, event) => owner.toLowerCase() === event.owner,
  asEmitted: (agent) => ({ ...agent, revoked: false }),
  mutable: { fields: ["capabilitiesHash"], eventName: "AgentUpdated", key: "agentId" },
});

// Two decoders of the same bytes: one replaces NUL, the other drops a byte order mark.
function comparable(text: string): string {
  return toStorableText(text).replace(/^\ufeff/, "");
}

export const agentsDomain = defineDomain({
  contract: "AgentRegistry",
  abi: agentRegistryAbi,
  tables: [agents, protocolTotals, activityHours],
  events: {
    AgentRegistered: {
      details: registration,
      fold: ({ args, timestamp, details }) => {
        const { pubkey, capabilitiesHash } = details(registration);
        return [
          insert(agents, {
            agent_id: args.agentId,
            owner: args.owner,
            metadata_uri: args.metadataURI,
            pubkey,
            capabilities_hash: capabilitiesHash,
            revoked: false,
          }),
          ...countActivity(timestamp, { agents: 1n }),
        ];
      },
      explain: ({ args }) =>
        sentence`Agent ${recordPart("agent", args.agentId)} registered by ${addressPart(args.owner)}`,
    },
    AgentUpdated: {
      fold: ({ args }) => [
        update(
          agents,
          { agent_id: args.agentId },
          { metadata_uri: args.metadataURI, capabilities_hash: args.capabilitiesHash },
        ),
      ],
      explain: ({ args }) =>
        sentence`Agent ${recordPart("agent", args.agentId)} updated its metadata and capabilities`,
    },
    AgentRevoked: {
      fold: ({ args }) => [update(agents, { agent_id: args.agentId }, { revoked: true })],
      explain: ({ args }) => sentence`Agent ${recordPart("agent", args.agentId)} revoked`,
    },
  },
});

export const solvers = defineTable(
  "solvers",
  {
    solver_id: uint256,
    operator: address,
    metadata_uri: unboundedText,
    capabilities_hash: bytes32,
    bond: uint256,
    active: bool,
  },
  {
    key: ["solver_id"],
    countsUp: true,
    index: [
      ["operator", "solver_id"],
      ["active", "solver_id"],
    ],
  },
);

export const solversDomain = defineDomain({
  contract: "SolverRegistry",
  abi: solverRegistryAbi,
  tables: [solvers],
  events: {
    SolverRegistered: {
      fold: ({ args, timestamp }) => [
        insert(solvers, {
          solver_id: args.solverId,
          operator: args.operator,
          metadata_uri: args.metadataURI,
          capabilities_hash: args.capabilitiesHash,
          bond: args.bond,
          active: true,
        }),
        ...countActivity(timestamp, { solvers: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Solver ${recordPart("solver", args.solverId)} registered by ${addressPart(args.operator)} with a bond of ${amountPart(args.bond, ZERO_ADDRESS)}`,
    },
    SolverUpdated: {
      fold: ({ args }) => [
        update(
          solvers,
          { solver_id: args.solverId },
          { metadata_uri: args.metadataURI, capabilities_hash: args.capabilitiesHash, active: args.active },
        ),
      ],
      explain: ({ args }) =>
        sentence`Solver ${recordPart("solver", args.solverId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
    SolverBondChanged: {
      fold: ({ args }) => [update(solvers, { solver_id: args.solverId }, { bond: args.bond })],
      explain: ({ args }) =>
        sentence`Bond of solver ${recordPart("solver", args.solverId)} is now ${amountPart(args.bond, ZERO_ADDRESS)}`,
    },
  },
});

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
  abi: attestorRegistryAbi,
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
