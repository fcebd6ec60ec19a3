// A request to the API as a client would send it: its route and URL, and the same to copy as curl and client code.
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { type Html, html } from "../lib/html.ts";
import { formatMoment } from "../lib/moment.ts";
import type { PageContext } from "./context.ts";

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
