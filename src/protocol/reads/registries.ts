// Agents as answers: /agents/:agentId and /agents.

import { addressParameter, uintParameter } from "../../schema/parameter.ts";
import { list, unchanging } from "../../schema/reads/list.ts";
import { columns, one, record } from "../../schema/reads/record.ts";
import { agents } from "../domains/agents.ts";

const agent = record({
  name: "Agent",
  table: agents,
  fields: columns(agents, [
    "agent_id",
    "owner",
    "metadata_uri",
    "pubkey",
    "capabilities_hash",
    "revoked",
    "block_number",
  ]),
});

export const agentReads = [
  one("/agents/:agentId", agent, {
    operation: "getAgent",
    summary: "One agent",
    tag: "Agents",
    parameter: "agentId",
    kind: uintParameter(),
    column: "agent_id",
    missing: "There is no agent with this id.",
  }),
  list("/agents", agent, {
    operation: "listAgents",
    summary: "The agents of an owner, by id",
    tag: "Agents",
    key: "agents",
    order: { direction: "asc", keys: [{ sql: "t.agent_id", cast: "numeric" }] },
    filters: { owner: unchanging(agents, "owner", addressParameter, "Whose agents.", true) },
  }),
];
