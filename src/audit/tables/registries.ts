// Agents must be what the registry says of them.
import { agentRegistryAbi as abi } from "@sextant/contracts/generated/agent-registry";
import { agents } from "../../protocol/domains/agents.ts";
import { createdBy, defineTableAudit, viewCheck } from "./define-audit.ts";

const registry = { contract: "AgentRegistry", abi } as const;

export const agentsAudit = defineTableAudit(agents, {
  ids: "agent_id",
  births: [
    createdBy(agents, registry, "AgentRegistered", ({ args }) => ({
      agent_id: args.agentId,
      owner: args.owner,
    })),
  ],
  views: [
    viewCheck(agents, registry, "getAgent", {
      args: ({ agent_id }) => [agent_id],
      columns: {
        owner: ({ owner }) => owner,
        metadata_uri: ({ metadataURI }) => metadataURI,
        pubkey: ({ pubkey }) => pubkey,
        capabilities_hash: ({ capabilitiesHash }) => capabilitiesHash,
        revoked: ({ revoked }) => revoked,
      },
    }),
  ],
});
