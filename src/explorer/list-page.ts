// A page that is one list of the API: its filters, its rows in pages, and its file.
import { type Html, html } from "../lib/html.ts";
import { filterForm, type List, listCard, listQuery } from "./list.ts";
import { definePage, type Page } from "./page.ts";

type ListPage = {
  /** The name of the page, in the navigation too. */
  readonly title: string;
  readonly lead: string;
  /** The order of the rows, in words. */
  readonly order: string;
  readonly note?: Html;
  /** A query for tests, or how to find one. */
  readonly example: Readonly<Record<string, string>> | Page["findExample"];
};

/** The page is where the file of the list is, without the ending. */
export function defineListPage(list: List, { title, lead, order, note, example }: ListPage): Page {
  return definePage({
    path: list.csv.replace(/\.csv$/, ""),
    nav: title,
    lists: [list],
    filtered: list,
    findExample: typeof example === "function" ? example : async () => ({ query: example }),
    load: (api, request) => api.list(list, { query: listQuery(request) }),
    render: (data, page) => ({
      title,
      lead,
      main: html`${filterForm(list, page)}${listCard(order, data, page, { isPaged: true, ...(note && { note }) })}`,
    }),
  });
}
