// The source of a page's rows: the API request to open, to copy as curl and as client code, and the CSV.
import { type Html, html } from "../lib/html.ts";
import { type ApiCall, findRoute, formatUrl, methodOf } from "./api-call.ts";
import type { PageContext } from "./context.ts";

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
  const client = block === undefined ? "sextant" : `sextant.at(${block}n)`;
  const call = `${client}.${action}(${given.length > 0 ? `{ ${given.join(", ")} }` : ""})`;
  return isList
    ? `for await (const record of ${call}) console.log(record);`
    : `const record = await ${call};`;
}

/** The client takes ids as text and page sizes as numbers. */
function formatValue(name: string, value: string): string {
  return name === "limit" && /^[0-9]{1,9}$/.test(value) ? value : JSON.stringify(value);
}
