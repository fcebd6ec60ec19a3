// Agents: those of all owners, the newest first, or those of one.
import { addressLink, badge, block, hash, recordLink, status } from "../components.ts";
import { foreignUri } from "../foreign-text.ts";
import type { List } from "../list.ts";
import { defineListPage } from "../list-page.ts";

export const agentList: List = {
  route: "/directory/agents",
  key: "agents",
  csv: "/agents.csv",
  columns: [
    { label: "Agent", cell: (each, page) => recordLink(page, "agent", String(each.agent_id)) },
    { label: "Owner", cell: (each, page) => addressLink(page, each.owner) },
    { label: "State", cell: (each) => agentState(each.revoked === true) },
    { label: "Metadata", kind: "sentence", cell: (each) => foreignUri(String(each.metadata_uri)) },
    { label: "Hash of the capabilities", cell: (each, page) => hash(page, each.capabilities_hash) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such agent at this block.",
};

export function agentState(isRevoked: boolean) {
  return isRevoked ? status("REVOKED") : badge("Registered", "good");
}

export const agentsPage = defineListPage(agentList, {
  title: "Agents",
  lead: "Programs that accounts have registered to act for them. Every agent belongs to one owner, whose policies and payments are on its account page.",
  order: "Newest first",
  example: async (get) => {
    const { owner } = (await get("/agents/1")) as { readonly owner: string };
    return { query: { owner } };
  },
});
