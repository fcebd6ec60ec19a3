// Agents: who may act. AgentRegistry → agents.
import { agentRegistryAbi as abi } from "@sextant/contracts/generated/agent-registry";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes, bytes32, text, uint256 } from "../../schema/column.ts";
import { details } from "../../schema/details.ts";
import { domain } from "../../schema/domain.ts";
import { table } from "../../schema/table.ts";

export const agents = table(
  "agents",
  {
    agent_id: uint256,
    owner: address,
    metadata_uri: text,
    pubkey: bytes,
    capabilities_hash: bytes32,
    revoked: bool,
  },
  { key: ["agent_id"], index: [["owner", "agent_id"]] },
);

// The event names neither the key nor the capabilities the agent registered with.
const registration = details({
  abi,
  call: "registerAgent",
  fromCall: ([, pubkey, capabilitiesHash]) => ({ pubkey, capabilitiesHash }),
  view: "getAgent",
  viewArgs: ({ agentId }: { agentId: bigint }) => [agentId] as const,
  fromView: ({ pubkey, capabilitiesHash }) => ({ pubkey, capabilitiesHash }),
});

export const agentsDomain = domain({
  contract: "AgentRegistry",
  abi,
  tables: [agents],
  events: {
    AgentRegistered: {
      details: registration,
      fold: ({ args, details }) => {
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
        ];
      },
      explain: ({ args }) => `Agent #${args.agentId} registered by ${args.owner}`,
    },
    AgentUpdated: {
      fold: ({ args }) => [
        update(
          agents,
          { agent_id: args.agentId },
          { metadata_uri: args.metadataURI, capabilities_hash: args.capabilitiesHash },
        ),
      ],
      explain: ({ args }) => `Agent #${args.agentId} updated its metadata and capabilities`,
    },
    AgentRevoked: {
      fold: ({ args }) => [update(agents, { agent_id: args.agentId }, { revoked: true })],
      explain: ({ args }) => `Agent #${args.agentId} revoked`,
    },
  },
});
