// Facilitators: all of them by number, with every filter of the API.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { facilitatorList } from "./commerce-lists.ts";

export const facilitatorsPage = definePage({
  path: "/facilitators",
  nav: "Facilitators",
  lists: [facilitatorList],
  filtered: facilitatorList,
  findExample: async () => ({ query: { active: "true" } }),
  load: (api, request) => api.list(facilitatorList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Facilitators",
    lead: "Who settles payments for merchants. Receipts of the rails facilitator and x402 are recorded by one.",
    main: html`${filterForm(facilitatorList, page)}${listCard("By number", data, page, { isPaged: true })}`,
  }),
});
