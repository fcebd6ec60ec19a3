// Services: those of all merchants by number, with every filter of the API.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { serviceList } from "./commerce-lists.ts";

export const servicesPage = definePage({
  path: "/services",
  nav: "Services",
  lists: [serviceList],
  filtered: serviceList,
  findExample: async () => ({ query: { active: "true" } }),
  load: (api, request) => api.list(serviceList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Services",
    lead: "What merchants offer. An agent gets a quote for a service, pays it, and has a receipt.",
    main: html`${filterForm(serviceList, page)}${listCard("By number", data, page, { isPaged: true })}`,
  }),
});
