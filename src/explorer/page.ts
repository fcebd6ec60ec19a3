// Defines a page of the explorer: the API requests it needs, and how it shows their responses.
import type { Html } from "../lib/html.ts";
import type { ApiReader } from "./api-reader.ts";
import type { AssetName } from "./assets.ts";
import type { Changes, PageContext, PageRequest } from "./context.ts";
import type { CsvSource, List } from "./list.ts";

export type PageView = {
  readonly title: string;
  /** A short line above the title: where the page belongs. */
  readonly kicker?: HtmlLine;
  /** The content next to the title, such as a status. */
  readonly beside?: Html;
  readonly lead?: HtmlLine;
  readonly main: Html;
  /** Blocks before and after the shown one in which this record changed; without it, any events count. */
  readonly changes?: Changes;
  /** Modules alongside those that every page has. */
  readonly scripts?: readonly AssetName[];
  /** Another page to go to instead. */
  readonly redirect?: string;
};

type HtmlLine = Html | string;

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
  readonly filtered?: List;
  /** For a page that changes without a block. */
  readonly isUncached?: true;
  readonly findExample: FindExample;
  readonly show: (api: ApiReader, request: PageRequest) => Promise<(page: PageContext) => PageView>;
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
      return (context) => render(data, context);
    },
  };
}
