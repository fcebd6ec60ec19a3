// The context in which a page is rendered: the visit, the position of the index, its links, and the requests behind it.
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { Fault } from "../lib/fault.ts";
import { type Html, html } from "../lib/html.ts";
import { formatMoment } from "../lib/moment.ts";
import type { headSchema } from "../protocol/reads/totals.ts";
import type { TypeOf } from "../schema/json-schema.ts";

/** The name of a record, and whether it is that of a document whose hash the record has. */
export type GivenName = { readonly text: string; readonly isOfDocument: boolean };

/** The names of records by kind and id, such as `merchant 3`. */
export type RecordNames = ReadonlyMap<string, GivenName>;

export const EXPLORER_PATH = "/explorer";

export type KnownToken = {
  readonly symbol: string;
  readonly decimals: number;
};

/** The chain behind the index, as the deployment file describes it. */
export type ExplorerChain = {
  readonly network: string;
  readonly chainId: number;
  /** A block explorer of the chain itself; null without one. */
  readonly explorerUrl: string | null;
  /** The coin of the chain, which has the zero address where tokens are named. */
  readonly native: KnownToken;
  readonly tokens: Readonly<Record<string, KnownToken>>;
  /** The addresses of the protocol's contracts, by name. */
  readonly contracts: Readonly<Record<string, string>>;
};

export type Head = TypeOf<typeof headSchema>;

/** The request: parameters of the path, and those keys of the query that the page knows. */
export type PageRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The block to show, with a time after it if one was asked for, such as `327@1794477600`; null is the latest. */
  readonly block: string | null;
  /** The time that led to the block, as the visitor wrote it; null for a block that was chosen otherwise. */
  readonly asked: string | null;
  /** The path below which this deployment is served, such as `/d/base-sepolia`; empty at the root. */
  readonly base: string;
};

/** The context of every link: it stays at the block and within the deployment. */
export type Place = Pick<PageRequest, "block" | "base">;

export type PageContext = PageRequest & {
  /** The path of this page, as it was requested, without the query. */
  readonly path: string;
  readonly head: Head;
  readonly site: Site;
  /** The API's sentence about what it rejects, and the filter that it is about. */
  readonly problem?: { readonly filter: string; readonly text: string };
  /** The names of records that the page mentions. */
  readonly names?: RecordNames;
};

/** The part that is the same for every page of this process. */
export type Site = {
  readonly chain: ExplorerChain;
  /** Origin for requests that are shown for copying. */
  readonly publicUrl: () => string;
  /** The patterns of all pages, so that a link is made only to a page that exists. */
  readonly pagePaths: ReadonlySet<string>;
  /** Every route of the API: its filters, and its action in the client. */
  readonly routes: readonly RouteDescription[];
  /** The navigation, in order. */
  readonly nav: readonly NavSection[];
  /** All deployments of this server, this one included. */
  readonly deployments: readonly ServedDeployment[];
};

type ServedDeployment = {
  readonly name: string;
  /** The path at which it is served; empty at the root. */
  readonly base: string;
};

/** Pages that belong together: a menu of the navigation. */
export type NavSection = {
  readonly label: string;
  readonly links: readonly { readonly path: string; readonly label: string }[];
  /** How the paths of its pages begin, those that no menu has included: `intents` for `/intents/:id`. */
  readonly roots: ReadonlySet<string>;
};

/** Blocks before and after the shown one in which something changed. */
export type Changes = { readonly previous: string | null; readonly next: string | null };

/** A parameter of the path; the router gives every one that the pattern names. */
export function requireParam({ params }: PageRequest, name: string): string {
  const value = params[name];
  if (value === undefined || value === "") throw new Fault("INPUT_INVALID", `${name} is missing.`);
  return value;
}

/** The number of the block to show, without its time. */
export function shownNumber({ block }: Pick<PageRequest, "block">): string | null {
  return block?.split("@")[0] ?? null;
}

/** When the page is as of, in seconds: as asked for, or the time of its block. */
export function shownTime({ block, head }: Pick<PageContext, "block" | "head">): string | null {
  return block?.split("@")[1] ?? head.block_timestamp;
}

/** A link to another page as of the same block. Empty and absent values of the query are left out. */
export function linkTo(
  { block, base }: Place,
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const pairs = Object.entries({ ...query, block: "block" in query ? query.block : block });
  const given = pairs.filter(
    (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
  );
  const text = new URLSearchParams(given).toString();
  return `${pagePath({ base }, path)}${text && `?${text}`}`;
}

/** The path of a page, for forms. */
export function pagePath({ base }: Pick<Place, "base">, path: string): string {
  return `${base}${EXPLORER_PATH}${path}`;
}

/** This page with some keys of the query changed; null removes one. Another block was not led to by the same time. */
export function linkHere(page: PageContext, changes: Readonly<Record<string, string | null>>): string {
  const { asked } = page;
  return linkTo(page, page.path, { ...page.query, ...("block" in changes ? {} : { asked }), ...changes });
}

export type ApiRecord = Readonly<Record<string, unknown>>;

/** A request to the API, as a client would send it. */
export type ApiCall = {
  /** The route's pattern, as declared: `/intents/:id`. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The body of POST; absent for GET. */
  readonly body?: Readonly<Record<string, string>>;
};

export function findRoute(
  routes: readonly RouteDescription[],
  path: string,
  method: "GET" | "POST" = "GET",
): RouteDescription {
  const found = routes.find((route) => route.method === method && route.path === path);
  if (!found) throw new TypeError(`the API has no route ${method} ${path}`);
  return found;
}

export function methodOf({ body }: ApiCall): "GET" | "POST" {
  return body === undefined ? "GET" : "POST";
}

/** A path with the values of its parameters. */
export function fillPath(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** The URL of a request, without the origin. */
export function formatUrl({ route, params, query }: ApiCall): string {
  const path = fillPath(route, params);
  const text = new URLSearchParams(query).toString();
  return `${path}${text && `?${text}`}`;
}

type SourceOptions = {
  /** The link to the rows as CSV; null if they are not a list. */
  readonly csv: string | null;
  readonly isList: boolean;
};

export function sourceLinks(
  page: PageContext,
  call: ApiCall,
  options: SourceOptions = { csv: null, isList: false },
): Html {
  const url = `${page.base}${formatUrl(call)}`;
  const method = methodOf(call);
  const curl = formatCurlCommand(page.site.publicUrl(), call);
  const code = formatClientCode(
    findRoute(page.site.routes, call.route, method).operationId,
    call,
    options.isList,
  );
  return html`<details class="source"><summary><span>Source</span> <code>${method} ${url}</code></summary>
${method === "GET" && html`<p class="source-links"><a href="${url}">Open as JSON</a>${options.csv !== null && html`<a href="${options.csv}">Download CSV</a>`}</p>`}
<div class="snippet"><h3>curl</h3><pre tabindex="0"><code data-copy="${curl}">${curl}</code></pre></div>
<div class="snippet"><h3>Client</h3><pre tabindex="0"><code data-copy="${code}">${code}</code></pre></div>
</details>`;
}

/** For a shell: in single quotes, which take everything but themselves; URLs have those encoded. */
export function formatCurlCommand(origin: string, call: ApiCall): string {
  const request = `curl '${origin}${formatUrl(call).replaceAll("'", "%27")}'`;
  if (call.body === undefined) return request;
  // JSON may have the quote within its strings only, where its code means the same.
  const body = JSON.stringify(call.body).replaceAll("'", "\\u0027");
  return `${request} -H 'content-type: application/json' -d '${body}'`;
}

/** As docs/client.md shows it: actions have the names of operations. */
export function formatClientCode(action: string, { params, query, body }: ApiCall, isList: boolean): string {
  const { block, ...filters } = query;
  const values = { ...params, ...filters, ...body };
  const given = Object.entries(values).map(([name, value]) => `${name}: ${formatValue(name, value)}`);
  const [number, seconds] = block?.split("@") ?? [];
  const asOf = seconds === undefined ? `${number}n` : JSON.stringify(formatMoment(Number(seconds)));
  const client = block === undefined ? "sextant" : `sextant.at(${asOf})`;
  const call = `${client}.${action}(${given.length > 0 ? `{ ${given.join(", ")} }` : ""})`;
  return isList
    ? `for await (const record of ${call}) console.log(record);`
    : `const record = await ${call};`;
}

/** The client takes ids as text and page sizes as numbers. */
function formatValue(name: string, value: string): string {
  return name === "limit" && /^[0-9]{1,9}$/.test(value) ? value : JSON.stringify(value);
}
