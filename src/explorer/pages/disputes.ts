// Disputes: all of them, newest first, with every filter of the API.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { disputeList } from "./commerce-lists.ts";

export const disputesPage = definePage({
  path: "/disputes",
  nav: "Disputes",
  lists: [disputeList],
  filtered: disputeList,
  findExample: async () => ({ query: { status: "resolved" } }),
  load: (api, request) => api.list(disputeList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Disputes",
    lead: "Receipts that an agent or a merchant contests, and how each ended.",
    main: html`${filterForm(disputeList, page)}${listCard("Newest first", data, page, { isPaged: true })}`,
  }),
});
