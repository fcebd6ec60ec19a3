// What a page of the explorer is: the API requests it needs, and how it shows their responses.
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { Fault } from "../lib/fault.ts";
import type { ApiReader } from "./api-reader.ts";
import type { Html } from "./html.ts";
import type { List } from "./list.ts";

export const EXPLORER_PATH = "/explorer";

export type KnownToken = {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
};

/** The chain behind the index, as the deployment file describes it. */
export type ExplorerChain = {
  readonly network: string;
  readonly chainId: number;
  /** A block explorer of the chain itself; null without one. */
  readonly explorerUrl: string | null;
  readonly tokens: readonly KnownToken[];
};

/** Where the index is: the response of GET /head. */
export type Head = {
  readonly block_number: string;
  readonly block_timestamp: string;
  readonly previous_event_block: string | null;
  readonly next_event_block: string | null;
  readonly indexed_block: string;
  readonly indexed_timestamp: string;
  readonly finalized_block: string;
  readonly start_block: string;
};

/** What was requested: parameters of the path, and those keys of the query that the page knows. */
export type PageRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The block to show; null is the latest. */
  readonly block: string | null;
};

export type PageContext = PageRequest & {
  /** The path of this page, as it was requested, without the query. */
  readonly path: string;
  readonly head: Head;
  readonly site: Site;
};

/** What is the same for every page of this process. */
export type Site = {
  readonly chain: ExplorerChain;
  /** Origin for requests that are shown for copying. */
  readonly publicUrl: () => string;
  /** The patterns of all pages, so that a link is made only to a page that exists. */
  readonly pagePaths: ReadonlySet<string>;
  readonly assetPath: (name: string) => string;
  /** Every route of the API: its filters, and its action in the client. */
  readonly routes: readonly RouteDescription[];
  /** The navigation, in order. */
  readonly nav: readonly { readonly path: string; readonly label: string }[];
};

export type PageView = {
  readonly title: string;
  /** A short line above the title: where the page belongs. */
  readonly kicker?: HtmlLine;
  /** What stands beside the title, such as a status. */
  readonly beside?: Html;
  readonly lead?: HtmlLine;
  readonly main: Html;
  /** Blocks before and after the shown one in which this record changed; without it, any events count. */
  readonly changes?: Changes;
  /** Modules beside those that every page has. */
  readonly scripts?: readonly string[];
  /** Another page to go to instead. */
  readonly redirect?: string;
};

type HtmlLine = Html | string;

export type Changes = { readonly previous: string | null; readonly next: string | null };

/** Parameters for tests: made from a running API, so that every page in the table is tested by being there. */
export type FindExample = (get: (url: string) => Promise<unknown>) => Promise<PageExample>;
type PageExample = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
};

export type Page = {
  /** Below /explorer, such as `/intents/:id`; empty for the first page. */
  readonly path: string;
  /** Its name in the navigation; absent for a page that only links lead to. */
  readonly nav?: string;
  /** Keys of the query beside `block`; others are ignored. */
  readonly query?: readonly string[];
  /** The lists of the page, each with its own CSV. */
  readonly lists?: readonly List[];
  /** The list whose filters and pages the query of this page chooses. */
  readonly filtered?: List;
  readonly findExample: FindExample;
  readonly show: (api: ApiReader, request: PageRequest) => Promise<(page: PageContext) => PageView>;
};

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

/** A parameter of the path; the router gives every one that the pattern names. */
export function requireParam({ params }: PageRequest, name: string): string {
  const value = params[name];
  if (value === undefined || value === "") throw new Fault("INPUT_INVALID", `${name} is missing.`);
  return value;
}

/** A link to another page as of the same block. Empty and absent values of the query are left out. */
export function linkTo(
  { block }: Pick<PageRequest, "block">,
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const pairs = Object.entries({ ...query, block: "block" in query ? query.block : block });
  const given = pairs.filter(
    (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
  );
  const text = new URLSearchParams(given).toString();
  return `${EXPLORER_PATH}${path}${text && `?${text}`}`;
}

/** This page with some keys of the query changed; null removes one. */
export function linkHere(page: PageContext, changes: Readonly<Record<string, string | null>>): string {
  return linkTo(page, page.path, { ...page.query, ...changes });
}
