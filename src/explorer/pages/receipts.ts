// Receipts: all of them, newest first, with every filter of the API.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { receiptList } from "./commerce-lists.ts";

export const receiptsPage = definePage({
  path: "/receipts",
  nav: "Receipts",
  lists: [receiptList],
  filtered: receiptList,
  findExample: async () => ({ query: { merchant_id: "1" } }),
  load: (api, request) => api.list(receiptList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Receipts",
    lead: "Payments that are settled: who paid whom, for which service, how, and whether it was delivered.",
    main: html`${filterForm(receiptList, page)}${listCard("Newest first", data, page, { isPaged: true })}`,
  }),
});
