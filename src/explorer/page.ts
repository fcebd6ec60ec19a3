// Defines a page of the explorer: the API requests it needs, and how it shows their responses.
import { type Html, html } from "../lib/html.ts";
import type { ApiReader } from "./api-reader.ts";
import type { AssetName } from "./assets.ts";
import type { Changes, PageContext, PageRequest } from "./context.ts";
import {
  type CsvSource,
  type FilteredList,
  filterForm,
  type List,
  listCard,
  listPath,
  listQuery,
} from "./list.ts";
import { findMentions, readRecordNames } from "./record-names.ts";

export type PageView = {
  readonly title: string;
  /** The name of the record, third-party text: a part of the heading. */
  readonly name?: Html | undefined;
  /** A short line above the title: where the page belongs. */
  readonly kicker?: Html | string;
  /** The content next to the title, such as a status. */
  readonly afterTitle?: Html | undefined;
  readonly lead?: Html | string | undefined;
  readonly main: Html;
  /** Blocks before and after the shown one in which this record changed; without it, any events count. */
  readonly changes?: Changes | undefined;
  /** Modules alongside those that every page has. */
  readonly scripts?: readonly AssetName[];
  /** Another page to go to instead. */
  readonly redirect?: string;
};

/** Parameters for tests: made from a running API, so that every page in the table is tested by being there. */
type FindExample = (get: (url: string) => Promise<unknown>) => Promise<PageExample>;
type PageExample = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
};

export type Page = {
  /** Below /explorer, such as `/intents/:id`; empty for the first page. */
  readonly path: string;
  /** Its name in the navigation; absent for a page that only links lead to. */
  readonly nav?: string;
  /** Keys of the query besides `block`; others are ignored. */
  readonly query?: readonly string[];
  /** The lists of the page, each with its own CSV. */
  readonly lists?: readonly CsvSource[];
  /** The list whose filters and pages the query of this page chooses. */
  readonly filtered?: FilteredList;
  /** For a page that changes without a block. */
  readonly isUncached?: true;
  readonly findExample: FindExample;
  readonly show: (api: ApiReader, request: PageRequest) => Promise<(page: PageContext) => PageView>;
  /** The page with its filters and without its rows, for a request that the API rejects. */
  readonly showRejected?: (page: PageContext) => PageView;
};

/** Pages under one menu of the navigation. */
export type Section = { readonly label: string; readonly pages: readonly Page[] };

type PageDeclaration<Data> = Omit<Page, "show"> & {
  readonly load: (api: ApiReader, request: PageRequest) => Promise<Data>;
  readonly render: (data: Data, page: PageContext) => PageView;
};

/** Ties the type of what is loaded to what is rendered. */
export function definePage<Data>({ load, render, ...page }: PageDeclaration<Data>): Page {
  return {
    ...page,
    show: async (api, request) => {
      const data = await load(api, request);
      const names = await readRecordNames(api, findMentions(data));
      return (context) => render(data, { ...context, names });
    },
  };
}

type FilteredPage<Data> = Omit<PageDeclaration<Data>, "render"> & {
  readonly title: string;
  readonly lead: string;
  readonly filters: FilteredList;
  /** The rows, below the filters. */
  readonly render: (data: Data, page: PageContext) => Html;
};

/** A page of rows with a form of filters. */
export function defineFilteredPage<Data>(declared: FilteredPage<Data>): Page {
  const { title, lead, filters, render, ...page } = declared;
  const view = (shown: PageContext, rows: Html | null): PageView => ({
    title,
    lead,
    main: html`${filterForm(filters, shown)}${rows}`,
  });
  return {
    ...definePage({ ...page, render: (data, shown) => view(shown, render(data, shown)) }),
    showRejected: (shown) => view(shown, null),
  };
}

type ListPage<T> = {
  /** The name of the page, in the navigation too. */
  readonly title: string;
  readonly lead: string;
  /** The order of the rows, in words. */
  readonly order: string;
  readonly note?: Html;
  /** Adds to the records what another request knows about them. */
  readonly complete?: (api: ApiReader, records: readonly T[]) => Promise<readonly T[]>;
  /** A query for tests, or how to find one. */
  readonly example: Readonly<Record<string, string>> | FindExample;
};

/** A page that is one list of the API: its filters, its rows in pages, and its file. */
export function defineListPage<T>(list: List<T>, options: ListPage<T>): Page {
  const { title, lead, order, note, example, complete = async (_api, records) => records } = options;
  return defineFilteredPage({
    title,
    lead,
    filters: list,
    path: listPath(list),
    nav: title,
    lists: [list],
    filtered: list,
    findExample: typeof example === "function" ? example : async () => ({ query: example }),
    load: async (api, request) => {
      const data = await api.list(list, { query: listQuery(request) });
      return { ...data, records: await complete(api, data.records) };
    },
    render: (data, page) => listCard(order, data, page, { isPaged: true, note }),
  });
}

type Get = Parameters<FindExample>[0];

/** The first record of a list of the API, for tests. */
export async function findFirst<T = Readonly<Record<string, unknown>>>(get: Get, url: string): Promise<T> {
  const [found] = Object.values((await get(url)) as object).filter(Array.isArray);
  if (found?.[0] === undefined) throw new Error(`there is nothing under ${url}`);
  return found[0];
}

/** A page of a record that a field of the first record of a list names. */
export const exampleFrom =
  (url: string, field: string): FindExample =>
  async (get) => ({ params: { id: String((await findFirst(get, url))[field]) } });
