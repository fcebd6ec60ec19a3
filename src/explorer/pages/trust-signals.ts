// Trust signals: all of them, newest first, with every filter of the API in words.
import { html } from "../../lib/html.ts";
import { filterForm, listCard, listQuery } from "../list.ts";
import { definePage } from "../page.ts";
import { signalList } from "./commerce-lists.ts";

export const trustSignalsPage = definePage({
  path: "/trust-signals",
  nav: "Trust signals",
  lists: [signalList],
  filtered: signalList,
  findExample: async () => ({ query: { subject_type: "0" } }),
  load: (api, request) => api.list(signalList, { query: listQuery(request) }),
  render: (data, page) => ({
    title: "Trust signals",
    lead: "What reporters say about merchants, services, facilitators and agents. A signal is the word of its reporter: look who it is.",
    main: html`${filterForm(signalList, page)}${listCard("Newest first", data, page, { isPaged: true })}`,
  }),
});
