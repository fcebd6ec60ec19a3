// Agents. AgentRegistry → agents, and the totals of everything.
import { agentRegistryAbi as abi } from "@sextant/contracts/generated/agent-registry";
import { toStorableText } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { defineDetails } from "../../schema/event-details.ts";
import { addressPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
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
  abi,
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
  abi,
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
