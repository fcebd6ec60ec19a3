// Lists of the API as tables: columns, filters, pages by cursor, and where the rows came from.

import type { RouteDescription } from "../http/openapi/route-description.ts";
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { card, notice } from "./components.ts";
import {
  type ApiCall,
  type ApiRecord,
  fillPath,
  findRoute,
  linkHere,
  linkTo,
  type PageContext,
  type PageRequest,
  pagePath,
  sourceLinks,
} from "./context.ts";
import { type Item, itemKind, itemValue } from "./fields.ts";
import { formatNumber, formatSeconds, splitWords } from "./format.ts";

/** Records of the API that are also a file. */
export type CsvSource = {
  /** The route of the API, as declared: its last part names the records in the response. */
  readonly route: string;
  /** The page of the list below /explorer, and its file with `.csv` added, if that is not the route. */
  readonly path?: string;
  /** For a route whose pages follow each other otherwise than by `cursor`: its parameter, and what the next page has in it. */
  readonly paging?: {
    readonly parameter: string;
    nextOf(body: ApiRecord): string | null;
  };
  /** For a route that takes no block: the block of a record, in whose order they come. */
  readonly blockOf?: (record: ApiRecord) => string;
};

export type Choice = readonly [value: string, label: string];

export type List<T> = CsvSource & {
  readonly columns: readonly Item<T>[];
  /** Filters that the API numbers: the word of each number, from zero. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Values of filters that a visitor can choose from, each with its label; without any, the filter is a text field. */
  readonly choices?: Readonly<Record<string, (page: PageContext) => readonly Choice[]>>;
  /** Placeholders that say more than the form of a value. */
  readonly hints?: Readonly<Record<string, string>>;
  /** A record as an item of a gallery instead of a row. */
  readonly item?: (record: T, page: PageContext) => Html;
  /** A class for the row of a record that stands out. */
  readonly rowClass?: (record: T) => string;
  /** The sentence instead of a table without rows. */
  readonly empty: string;
};

/** The part of a list that its filters need. */
export type FilteredList = Pick<List<never>, "route" | "words" | "choices" | "hints"> & {
  /** The names of the filters, if they are not all those of the route. */
  readonly filters?: readonly string[];
  /** Whether the form does not show the value of a filter. */
  readonly isHidden?: (name: string, page: PageContext) => boolean;
};

/** A page of records. */
export type RecordPage<T> = {
  readonly call: ApiCall;
  readonly records: readonly T[];
  readonly next: string | null;
};

/** A page of a list. */
export type ListData<T> = RecordPage<T> & { readonly list: List<T> };

export function recordsKey({ route }: CsvSource): string {
  return route.slice(route.lastIndexOf("/") + 1).replaceAll("-", "_");
}

export const listPath = ({ route, path = route }: CsvSource) => path;
export const csvOf = (source: CsvSource) => `${listPath(source)}.csv`;

/** The parameters of a list page besides its filters. `trail` has the cursors of the pages before. */
const PAGING_KEYS = ["limit", "cursor", "trail"] as const;

const NO_FILTERS = ["limit", "offset", "cursor", "block", "include", "min_block"];

/** The filters of a route that a visitor may use. */
function filtersOf(route: RouteDescription): RouteDescription["parameters"] {
  return route.parameters.filter((each) => each.in === "query" && !NO_FILTERS.includes(each.name));
}

/** The keys that a page with this list must know. */
export function listKeys(
  routes: readonly RouteDescription[],
  list: Pick<CsvSource, "route">,
): readonly string[] {
  return [...filtersOf(findRoute(routes, list.route)).map(({ name }) => name), ...PAGING_KEYS];
}

/** The part of a page's query that its list sends to the API. */
export function listQuery({ query }: PageRequest): Readonly<Record<string, string>> {
  const { trail: _trail, ...sent } = query;
  return sent;
}

function listTable<T>({ list, records }: ListData<T>, page: PageContext): Html {
  if (records.length === 0) return html`<p class="empty">${list.empty}</p>`;
  const { item } = list;
  if (item !== undefined) return html`<ul class="gallery">${records.map((each) => item(each, page))}</ul>`;
  return table(list.columns, records, page, { rowClass: list.rowClass });
}

/** The column by which rows are sorted, in which direction, and the link to the other direction. */
export type Sort = {
  readonly label: string;
  readonly direction: "ascending" | "descending";
  readonly other: string;
};

function columnHead<T>(item: Item<T>, sort: Sort | undefined): Html {
  const [label] = item;
  if (label !== sort?.label) return html`<th scope="col" class="${itemKind(item)}">${label}</th>`;
  const arrow = sort.direction === "ascending" ? "↑" : "↓";
  return html`<th scope="col" class="${itemKind(item)}" aria-sort="${sort.direction}"><a href="${sort.other}" title="In the other order">${label} <span aria-hidden="true">${arrow}</span></a></th>`;
}

type TableOptions<T> = {
  readonly rowClass?: ((record: T) => string) | undefined;
  readonly sort?: Sort | undefined;
};

/** Rows with columns; on a phone every row is a card, whose labels come from the columns. */
export function table<T>(
  columns: readonly Item<T>[],
  records: readonly T[],
  page: PageContext,
  { rowClass = () => "", sort }: TableOptions<T> = {},
): Html {
  const head = columns.map((item) => columnHead(item, sort));
  const rows = records.map(
    (record) =>
      html`<tr class="${rowClass(record)}">${columns.map((item) => html`<td class="${itemKind(item)}" data-label="${item[0]}"><div class="cell">${itemValue(item, record, page)}</div></td>`)}</tr>`,
  );
  return html`<div class="scroll"><table class="stack"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

type ListCardOptions = {
  /** Without it the list has no pages here, but a link to all of it. */
  readonly isPaged?: boolean;
  /** The name of the link to the page with all of the list. */
  readonly more?: string | undefined;
  /** The content above the table. */
  readonly note?: HtmlValue;
  readonly id?: string;
};

/** A list as a part of a page, with the way on, and the ways to take the rows elsewhere. */
export function listCard<T>(
  title: string,
  data: ListData<T>,
  page: PageContext,
  { id, note, more, isPaged = false }: ListCardOptions = {},
): Html {
  const { list, call } = data;
  // The same list with the same filters, from its beginning.
  const { cursor: _cursor, limit: _limit, block: _block, ...filters } = call.query;
  const csv = linkTo(page, fillPath(csvOf(list), call.params), filters);
  const content = html`${note}${listTable(data, page)}${isPaged && pagination(data, page)}${sourceLinks(page, call, { csv, isList: true })}`;
  const aside = more !== undefined && html`<a href="${linkTo(page, listPath(list), filters)}">${more}</a>`;
  return card(title, content, { id, aside });
}

/** A list without the columns that its page says already. */
export function withoutColumns<T>(list: List<T>, hidden: readonly string[]): List<T> {
  return { ...list, columns: list.columns.filter(([label]) => !hidden.includes(label)) };
}

const FIRST = "first";
// Long enough for fifty pages of most lists; beyond that "First page" leads back.
const TRAIL_LENGTH_MAX = 2_000;

/** How many there are, or where the page is among them. */
export const countNote = (text: string) => html`<p class="soft note count">${text}</p>`;

/** How many there are, as far as it is known; next by the cursor of the API, previous by the cursors that led here. */
function pagination({ next, records }: RecordPage<unknown>, page: PageContext): Html {
  const { cursor, trail = "" } = page.query;
  const before = trail === "" ? [] : trail.split(".");
  const previous = before.at(-1);
  if (next === null && cursor === undefined)
    return countNote(`${formatNumber(String(records.length)).text} in all.`);
  const here = [...before, cursor ?? FIRST].join(".");
  const kept =
    here.length <= TRAIL_LENGTH_MAX
      ? here
      : here.slice(here.indexOf(".", here.length - TRAIL_LENGTH_MAX) + 1);
  const toPrevious = {
    cursor: previous === FIRST ? null : (previous ?? null),
    trail: before.slice(0, -1).join("."),
  };
  const more = next === null ? "the last one" : "more follow";
  // The number of the page is known as long as the trail has every page before it.
  const isWhole = before[0] === FIRST;
  const position =
    cursor === undefined
      ? `More than ${formatNumber(String(records.length)).text}.`
      : isWhole
        ? `Page ${before.length + 1}, ${more}.`
        : `A later page, ${more}.`;
  return html`${countNote(position)}<nav class="pagination" aria-label="Pages">
${cursor !== undefined && html`<a href="${linkHere(page, { cursor: null, trail: null })}">First page</a>`}
${previous !== undefined && html`<a rel="prev" href="${linkHere(page, toPrevious)}">← Previous</a>`}
${next !== null && html`<a rel="next" href="${linkHere(page, { cursor: next, trail: kept })}">Next →</a>`}
</nav>`;
}

/** A form with every filter of the list's route. Without JavaScript too: it is a plain GET. */
export function filterForm(list: FilteredList, page: PageContext): Html {
  const { routes } = page.site;
  const own = filtersOf(findRoute(routes, list.route)).filter(
    ({ name }) => list.filters?.includes(name) ?? true,
  );
  // The route of events takes no time; on its page a time leads to a block, as on the pages of other lists.
  const isTimed = list.filters?.includes("at") === true;
  const time = filtersOf(findRoute(routes, "/intents")).filter(({ name }) => isTimed && name === "at");
  const parameters = [...own, ...time];
  const fields = parameters.map((each) => filterField(each, list, page));
  // The field of the time says which block is shown, and without its text the form leads to the latest.
  const isByTime = page.asked !== null && parameters.some(({ name }) => name === "at");
  const kept = isByTime ? null : page.block;
  const isFiltered = isByTime || parameters.some(({ name }) => page.query[name] !== undefined);
  const { problem } = page;
  const isMarked = parameters.some(({ name }) => name === problem?.filter);
  return html`<form class="filters" method="get" action="${pagePath(page, page.path)}" role="search" aria-label="Filters">${fields}${kept !== null && html`<input type="hidden" name="block" value="${kept}">`}<div class="field actions"><button>Filter</button>${isFiltered && html`<a href="${linkTo(page, page.path, { block: kept })}">Clear</a>`}</div></form>${problem !== undefined && notice("warn", isMarked ? "Nothing is listed: correct the marked filter." : problem.text)}`;
}

/** The block that the time of the filter led to. */
const ledTo = ({ asked, head }: PageContext) =>
  asked !== null && html`<span class="under">block ${formatNumber(head.block_number).text}</span>`;

function filterField(
  { name, kind: { json }, description, required }: RouteDescription["parameters"][number],
  { words = {}, hints = {}, choices = {}, isHidden = () => false }: FilteredList,
  page: PageContext,
): Html {
  const id = `filter-${name}`;
  const asked = name === "at" ? page.asked : null;
  const value = isHidden(name, page) ? "" : (page.query[name] ?? asked ?? "");
  const options = Array.isArray(json.enum)
    ? json.enum.map((each): Choice => [String(each), splitWords(words[name]?.[Number(each)] ?? String(each))])
    : withChosen(choices[name]?.(page) ?? [], value);
  // The sentence of the API names the values, and a form their labels.
  const sentence = options.length === 0 ? page.problem?.text : "There is no such choice: choose another.";
  const problem = page.problem?.filter === name ? (sentence ?? null) : null;
  const invalid = problem !== null && html` aria-invalid="true" aria-describedby="${id}-problem"`;
  const input =
    options.length === 0
      ? html`<input id="${id}" name="${name}" value="${value}" title="${description}" placeholder="${hints[name] ?? placeholderOf(json, page)}"${invalid} autocomplete="off" spellcheck="false" autocapitalize="off">`
      : html`<select id="${id}" name="${name}" title="${description}"${invalid}><option value="">${required ? "Choose" : "Any"}</option>${options.map(([option, label]) => html`<option value="${option}"${option === value && html` selected`}>${label}</option>`)}</select>`;
  return html`<div class="field"><label for="${id}">${splitWords(name.replace("_numeric", ""))}</label>${input}${name === "at" && ledTo(page)}${problem !== null && html`<p class="problem" id="${id}-problem">${problem}</p>`}</div>`;
}

/** The chosen value stays one of the options, although the page did not offer it. */
function withChosen(choices: readonly Choice[], value: string): readonly Choice[] {
  const isOffered = choices.length === 0 || value === "" || choices.some(([each]) => each === value);
  return isOffered ? choices : [...choices, [value, value]];
}

/** The time of the shown block is one that the index has, however young it is. */
function placeholderOf(json: JsonSchema, { head }: PageContext): string {
  const day = formatSeconds(head.block_timestamp ?? "")?.iso.slice(0, 16);
  if (json["x-time"] === true) return day === undefined ? "5m" : `5m or ${day}Z`;
  const pattern = typeof json.pattern === "string" ? json.pattern : "";
  if (pattern.includes("{40}")) return "0x… address";
  return pattern.includes("{64}") ? "0x… hash" : "Number";
}
