// Agents, solvers with their bonds, and attestors. AgentRegistry, SolverRegistry, AttestorRegistry → a table of each.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { toStorableText } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { defineDetails } from "../../schema/event-details.ts";
import { addressPart, amountPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable, ZERO_ADDRESS } from "../../schema/table.ts";
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
