// Agents of an owner: the API lists them by owner only, so the page begins with a form for the owner.
import { address, badge, block, hash, notice, recordLink, status } from "../components.ts";
import { foreignUri } from "../foreign-text.ts";
import { html } from "../html.ts";
import { filterForm, type List, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";

export const agentList: List = {
  route: "/agents",
  key: "agents",
  csv: "/agents.csv",
  columns: [
    { label: "Agent", cell: (each, page) => recordLink(page, "agent", String(each.agent_id)) },
    { label: "State", cell: (each) => agentState(each.revoked === true) },
    { label: "Metadata", kind: "sentence", cell: (each) => foreignUri(String(each.metadata_uri)) },
    { label: "Hash of the capabilities", cell: (each, page) => hash(page, each.capabilities_hash) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "This owner has no agent at this block.",
};

export function agentState(isRevoked: boolean) {
  return isRevoked ? status("REVOKED") : badge("Registered", "good");
}

export const agentsPage = definePage({
  path: "/agents",
  nav: "Agents",
  lists: [agentList],
  filtered: agentList,
  findExample: async (get) => {
    const { owner } = (await get("/agents/1")) as { readonly owner: string };
    return { query: { owner } };
  },
  load: async (api, request) =>
    request.query.owner === undefined ? null : api.list(agentList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Agents of an owner",
    lead: "Programs that an account has registered to act for it. Every agent belongs to one owner, whose policies and payments are on its account page.",
    main: html`${filterForm(agentList, page)}${
      data === null
        ? notice("info", "Enter the address of an owner. An agent by its number is found by the search.")
        : listCard("By number", data, page, {
            isPaged: true,
            note: html`<p class="note">Owner ${address(page, data.call.query.owner?.toLowerCase())}</p>`,
          })
    }`,
  }),
});
