// Lists of the API as tables: columns, filters, pages by cursor, and where the rows came from.
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import { type ApiCall, type ApiRecord, findRoute } from "./api-call.ts";
import { card } from "./components.ts";
import { linkHere, linkTo, type PageContext, type PageRequest, pagePath } from "./context.ts";
import { splitWords } from "./format.ts";
import { sourceLinks } from "./source.ts";

type Column<T = ApiRecord> = {
  readonly label: string;
  readonly cell: (record: T, page: PageContext) => HtmlValue;
  /** Numbers align to the right, sentences get the width of a phone. */
  readonly kind?: "number" | "sentence";
};

/** Records of the API that are also a file. */
export type CsvSource = {
  /** The route of the API, as declared. */
  readonly route: string;
  /** The key of the records in its response. */
  readonly key: string;
  /** If the rows are as CSV, below /explorer: with the parameters of the route. */
  readonly csv: string;
  /** Filters that are always set, besides those that the visitor chooses. */
  readonly query?: Readonly<Record<string, string>>;
  /** For a route whose pages follow each other otherwise than by `cursor`: its parameter, and what the next page has in it. */
  readonly paging?: {
    readonly parameter: string;
    readonly nextOf: (body: ApiRecord) => string | null;
  };
  /** For a route that takes no block: the block of a record, in whose order they come. */
  readonly blockOf?: (record: ApiRecord) => string;
};

export type List = CsvSource & {
  readonly columns: readonly Column[];
  /** Filters that the API numbers: the word of each number, from zero. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** A class for the row of a record that stands out. */
  readonly rowClass?: (record: ApiRecord) => string;
  /** The sentence instead of a table without rows. */
  readonly empty: string;
};

/** A page of records. */
export type RecordPage = {
  readonly call: ApiCall;
  readonly records: readonly ApiRecord[];
  readonly next: string | null;
};

/** A page of a list. */
export type ListData = RecordPage & { readonly list: List };

/** The parameters of a list page besides its filters. `trail` has the cursors of the pages before. */
const PAGING_KEYS = ["limit", "cursor", "trail"] as const;

const NO_FILTERS = ["limit", "offset", "cursor", "block", "include", "min_block"];

/** The filters of a route that a visitor may use. */
function filtersOf(route: RouteDescription): RouteDescription["parameters"] {
  return route.parameters.filter((each) => each.in === "query" && !NO_FILTERS.includes(each.name));
}

/** The keys that a page with this list must know. */
export function listKeys(routes: readonly RouteDescription[], list: CsvSource): readonly string[] {
  return [...filtersOf(findRoute(routes, list.route)).map(({ name }) => name), ...PAGING_KEYS];
}

/** The part of a page's query that its list sends to the API. */
export function listQuery({ query }: PageRequest): Readonly<Record<string, string>> {
  const { trail: _trail, ...sent } = query;
  return sent;
}

function listTable({ list, records }: Pick<ListData, "list" | "records">, page: PageContext): Html {
  if (records.length === 0) return html`<p class="empty">${list.empty}</p>`;
  return table(list.columns, records, page, list.rowClass);
}

/** Rows with columns; on a phone every row is a card, whose labels come from the columns. */
export function table<T>(
  columns: readonly Column<T>[],
  records: readonly T[],
  page: PageContext,
  rowClass: (record: T) => string = () => "",
): Html {
  const head = columns.map(({ label, kind }) => html`<th scope="col" class="${kind ?? ""}">${label}</th>`);
  const rows = records.map(
    (record) =>
      html`<tr class="${rowClass(record)}">${columns.map(({ label, cell, kind }) => html`<td class="${kind ?? ""}" data-label="${label}"><div class="cell">${cell(record, page)}</div></td>`)}</tr>`,
  );
  return html`<div class="scroll"><table class="stack"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

type ListCardOptions = {
  /** Without it the list has no pages here, but a link to all of it. */
  readonly isPaged?: boolean;
  /** The page with all of the list, below /explorer, and the name of the link. */
  readonly more?: {
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly label: string;
  };
  /** The content above the table. */
  readonly note?: HtmlValue;
  readonly id?: string;
};

/** A list as a part of a page, with the way on, and the ways to take the rows elsewhere. */
export function listCard(
  title: string,
  data: ListData,
  page: PageContext,
  options: ListCardOptions = {},
): Html {
  const more =
    options.more !== undefined &&
    html`<a href="${linkTo(page, options.more.path, options.more.query)}">${options.more.label}</a>`;
  const content = html`${options.note}${listTable(data, page)}${options.isPaged === true && pagination(data, page)}${sourceLinks(page, data.call, { csv: csvPath(data, page), isList: true })}`;
  return card(title, content, {
    ...(options.id === undefined ? {} : { id: options.id }),
    ...(more === false ? {} : { aside: more }),
  });
}

/** The rows as CSV: the same list with the same filters, from its beginning. */
function csvPath({ list, call }: ListData, page: PageContext): string {
  const path = list.csv.replace(/:(\w+)/g, (_match, key: string) =>
    encodeURIComponent(call.params[key] ?? ""),
  );
  const own = Object.keys(list.query ?? {});
  const kept = Object.entries(call.query).filter(
    ([key]) => !own.includes(key) && key !== "cursor" && key !== "limit" && key !== "block",
  );
  return linkTo(page, path, Object.fromEntries(kept));
}

const FIRST = "first";
// Long enough for fifty pages of most lists; beyond that "First page" leads back.
const TRAIL_LENGTH_MAX = 2_000;

/** Next by the cursor of the API, previous by the cursors that led here. */
function pagination({ next }: ListData, page: PageContext): Html | null {
  const { cursor, trail = "" } = page.query;
  const before = trail === "" ? [] : trail.split(".");
  const previous = before.at(-1);
  if (next === null && cursor === undefined) return null;
  const here = [...before, cursor ?? FIRST].join(".");
  const kept =
    here.length <= TRAIL_LENGTH_MAX
      ? here
      : here.slice(here.indexOf(".", here.length - TRAIL_LENGTH_MAX) + 1);
  const toPrevious = {
    cursor: previous === FIRST ? null : (previous ?? null),
    trail: before.slice(0, -1).join("."),
  };
  return html`<nav class="pagination" aria-label="Pages">
${cursor !== undefined && html`<a href="${linkHere(page, { cursor: null, trail: null })}">First page</a>`}
${previous !== undefined && html`<a rel="prev" href="${linkHere(page, toPrevious)}">← Previous</a>`}
${next !== null && html`<a rel="next" href="${linkHere(page, { cursor: next, trail: kept })}">Next →</a>`}
</nav>`;
}

/** A form with every filter of the list's route. Without JavaScript too: it is a plain GET. */
export function filterForm(list: List, page: PageContext): Html {
  const route = findRoute(page.site.routes, list.route);
  const fields = filtersOf(route).map(({ name, kind, description, required }) => {
    const value = page.query[name] ?? "";
    const id = `filter-${name}`;
    return html`<div class="field"><label for="${id}">${splitWords(name)}</label>${filterInput({ id, name, value, required, json: kind.json, description, words: list.words?.[name] ?? [] })}</div>`;
  });
  const blockField = page.block !== null && html`<input type="hidden" name="block" value="${page.block}">`;
  const isFiltered = filtersOf(route).some(({ name }) => page.query[name] !== undefined);
  return html`<form class="filters" method="get" action="${pagePath(page, page.path)}" role="search" aria-label="Filters">${fields}${blockField}<div class="field actions"><button>Filter</button>${isFiltered && html`<a href="${linkTo(page, page.path)}">Clear</a>`}</div></form>`;
}

type FilterInput = {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
  readonly json: Readonly<Record<string, unknown>>;
  readonly description: string;
  readonly words: readonly string[];
};

function filterInput({ id, name, value, required, json, description, words }: FilterInput): Html {
  const options = Array.isArray(json.enum) ? json.enum.map(String) : null;
  if (options !== null) {
    return html`<select id="${id}" name="${name}" title="${description}"><option value="">${required ? "Choose" : "Any"}</option>${options.map((option) => html`<option value="${option}"${option === value && html` selected`}>${splitWords(words[Number(option)] ?? option)}</option>`)}</select>`;
  }
  const pattern = typeof json.pattern === "string" ? json.pattern : ".*";
  return html`<input id="${id}" name="${name}" value="${value}" title="${description}" placeholder="${placeholderOf(pattern)}" autocomplete="off" spellcheck="false" autocapitalize="off">`;
}

function placeholderOf(pattern: string): string {
  if (pattern.includes("{40}")) return "0x… address";
  return pattern.includes("{64}") ? "0x… hash" : "Number";
}
