// Agents as answers: /agents/:agentId and /agents.

import { addressParameter, uintParameter } from "../../schema/parameter.ts";
import { defineList, immutableFilter } from "../../schema/reads/list.ts";
import { columnFields, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { agents } from "../domains/agents.ts";

const agent = defineRecord({
  name: "Agent",
  table: agents,
  fields: columnFields(agents, [
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
  defineRecordRead("/agents/:agentId", agent, {
    operationId: "getAgent",
    summary: "One agent",
    tag: "Agents",
    parameter: "agentId",
    kind: uintParameter(),
    column: "agent_id",
    notFoundMessage: "There is no agent with this id.",
  }),
  defineList("/agents", agent, {
    operationId: "listAgents",
    summary: "The agents of an owner, by id",
    tag: "Agents",
    key: "agents",
    order: { direction: "asc", keys: [{ sql: "t.agent_id", cast: "numeric" }] },
    filters: { owner: immutableFilter(agents, "owner", addressParameter, "Whose agents.", true) },
  }),
];
