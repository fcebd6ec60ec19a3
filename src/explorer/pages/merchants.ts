// Merchants: all of them by number, with every filter of the API.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { merchantList } from "./commerce-lists.ts";

export const merchantsPage = definePage({
  path: "/merchants",
  nav: "Merchants",
  lists: [merchantList],
  filtered: merchantList,
  findExample: async () => ({ query: { active: "true" } }),
  load: (api, request) => api.list(merchantList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Merchants",
    lead: "Who sells. Each merchant is an entry of CommerceRegistry with an owner, an address to pay out to, and what it says about itself.",
    main: html`${filterForm(merchantList, page)}${listCard("By number", data, page, { isPaged: true })}`,
  }),
});
