// Defines the pages of the explorer, those of one record above all: what each reads of the API, and how it shows it.
import { type Html, type HtmlValue, html } from "../lib/html.ts";
import type { ApiReader } from "./api-reader.ts";
import {
  card,
  notice,
  number,
  type PageKind,
  RECORD_PAGES,
  recordLink,
  recordRoute,
  type TimelineStep,
  timeline,
  transaction,
} from "./components.ts";
import {
  type ApiCall,
  type Changes,
  type PageContext,
  type PageRequest,
  requireParam,
  sourceLinks,
} from "./context.ts";
import {
  changesOf,
  type EventsData,
  eventSource,
  eventsPath,
  eventsUpTo,
  eventTable,
  type ListedEvent,
  newestEvents,
} from "./events.ts";
import {
  findMentions,
  findName,
  type HostedDocuments,
  type Item,
  isHash,
  type NamedRecord,
  readRecordNames,
  recordFacts,
  renderGivenName,
  timeAndBlock,
} from "./fields.ts";
import { shorten, splitWords } from "./format.ts";
import {
  type CsvSource,
  type FilteredList,
  filterForm,
  type List,
  type ListData,
  listCard,
  listPath,
  listQuery,
  withoutColumns,
} from "./list.ts";

/** The style and the modules of pages. */
export type AssetName = "explorer.css" | "page.js" | "live-feed.js";

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

/** The data that every page of a record has read. */
type RecordData<T> = {
  readonly record: T;
  readonly call: ApiCall;
  /** The hashes of the record under which a document is published, with the name of each. */
  readonly published: Published;
};

type Published = ReadonlyMap<unknown, string | null>;

type RecordPageDeclaration<T, Loaded, Early> = Pick<Page, "query" | "lists" | "filtered" | "findExample"> & {
  readonly kind: PageKind;
  /** The parts of a record that the API shows on request, if not its provenance. */
  readonly include?: string;
  /** The field that names the record. */
  readonly id: keyof T & string;
  /** The fields that are hashes of documents, which may be published here. */
  readonly documents?: readonly (keyof T & string)[];
  /** Reads what needs no more than the id, in one statement with the record. */
  readonly loadById?: (api: ApiReader, id: string, request: PageRequest) => Promise<Early>;
  /** Reads what belongs to the record. */
  readonly load: (api: ApiReader, record: T, request: PageRequest) => Promise<Loaded>;
  /** The content next to the title, such as a status. */
  readonly state: (data: RecordData<T> & Early & Loaded, page: PageContext) => Html;
  readonly lead?: (data: RecordData<T> & Early & Loaded, page: PageContext) => Html | string;
  /** The facts of its card, unless they depend on what is loaded. */
  readonly facts?: readonly NoInfer<Item<T>>[];
  /** The content, with the card of the facts. */
  readonly main: (data: RecordData<T> & Early & Loaded, page: PageContext, record: Html) => Html;
  /** Blocks in which the record changed, if they are not those of its events. */
  readonly changes?: (data: RecordData<T> & Early & Loaded, page: PageContext) => Changes | undefined;
};

export function defineRecordPage<T, Loaded extends { readonly events: EventsData }, Early = unknown>(
  declared: RecordPageDeclaration<T, Loaded, Early>,
): Page {
  const { kind, id, lead, include = "provenance", documents = [], ...rest } = declared;
  const { facts, loadById, load, state, main, ...page } = rest;
  const { changes = ({ events }, shown) => changesWithin(events, shown) } = page;
  const { route, parameter } = recordRoute(kind);
  return definePage({
    ...page,
    path: RECORD_PAGES[kind],
    async load(api, request): Promise<RecordData<T> & Early & Loaded> {
      const recordId = requireParam(request, "id");
      const [{ body: record, call }, early] = await Promise.all([
        api.get<T>(route, { params: { [parameter]: recordId }, query: { include } }),
        loadById?.(api, recordId, request) as Promise<Early>,
      ]);
      const [loaded, published] = await Promise.all([
        load(api, record, request),
        findPublished(
          api,
          documents.map((name) => record[name]),
        ),
      ]);
      return { ...early, ...loaded, record, call, published };
    },
    render(data, shown): PageView {
      const name = String(data.record[id]);
      const kicker = splitWords(kind);
      const given = findName(data.record as NamedRecord, data.published);
      return {
        kicker,
        title: `${kicker} ${name.startsWith("0x") ? shorten(name) : `#${name}`}`,
        name: given === null ? undefined : renderGivenName(given),
        afterTitle: state(data, shown),
        lead: lead?.(data, shown),
        main: main(data, shown, facts === undefined ? html`` : recordCard("Record", facts, data, shown)),
        changes: changes(data, shown),
      };
    },
  });
}

/** Reads several things at once, by their names. */
export async function readAll<T extends Readonly<Record<string, unknown>>>(
  reads: T,
): Promise<{ readonly [Name in keyof T]: Awaited<T[Name]> }> {
  const values = await Promise.all(Object.values(reads));
  return Object.fromEntries(Object.keys(reads).map((name, index) => [name, values[index]])) as {
    readonly [Name in keyof T]: Awaited<T[Name]>;
  };
}

/** The documents that are published under the hashes, with their names, so that a page links those and no others. */
async function findPublished(api: ApiReader, hashes: readonly unknown[]): Promise<Published> {
  const given = hashes.filter(isHash);
  if (given.length === 0) return new Map();
  const { body } = await api.get<HostedDocuments>("/documents", { query: { hash: given.join(",") } });
  return new Map(body.documents.map(({ hash, name }) => [hash, name]));
}

/** Facts of the record, with the request that it came from. */
export function recordCard<T>(
  title: string,
  items: readonly Item<T>[],
  { record, call, published }: RecordData<T>,
  page: PageContext,
  more?: HtmlValue,
): Html {
  return card(title, html`${recordFacts(items, record, page, published)}${more}${sourceLinks(page, call)}`);
}

/** The changes around the shown block; unknown if an event that is not read may be one. */
export function changesWithin(data: EventsData, page: PageContext): Changes | undefined {
  const { events, unreadBefore, isOpenEnded } = data;
  const from = BigInt(unreadBefore ?? 0);
  const known = changesOf(
    events.filter(({ block_number }) => BigInt(block_number) >= from),
    page,
  );
  const isUnknown =
    (known.previous === null && unreadBefore !== null) || (known.next === null && isOpenEnded);
  return isUnknown ? undefined : known;
}

/** Says before which block events may be missing. */
export function unreadNotice({ unreadBefore, older, call }: EventsData, page: PageContext): Html | null {
  return unreadBefore === null
    ? null
    : notice(
        "info",
        html`Events before block ${number(unreadBefore)} may be missing here: <a href="${eventsPath(page, call, older)}">read them in pages</a>.`,
      );
}

const EVENTS_SHOWN = 8;

/** The history of a record up to the shown block, newest first. */
export function historyCard(data: EventsData, page: PageContext): Html {
  const events = newestEvents(data, page);
  const shown = events.slice(-EVENTS_SHOWN).toReversed();
  const isWhole = data.unreadBefore === null;
  const rows =
    shown.length === 0
      ? isWhole && html`<p class="empty">No event at this block.</p>`
      : eventTable(shown, page);
  const count = isWhole ? `All ${events.length} events` : "All events";
  const more =
    events.length > shown.length
      ? html`<nav class="pagination" aria-label="History"><a href="${eventsPath(page, data.call)}">${count} →</a></nav>`
      : unreadNotice(data, page);
  return card("History", html`${rows}${more}${eventSource(page, data.call)}`);
}

/** An event of the life of a record: its title, and whether it set the record back; null for one that is left out. */
type ToStep = (event: ListedEvent, page: PageContext) => { title: HtmlValue; isSetback?: boolean } | null;

/** The events up to the shown block as steps. */
export function lifeSteps(data: EventsData, page: PageContext, toStep: ToStep): readonly TimelineStep[] {
  return eventsUpTo(data.events, page).flatMap((event) => {
    const step = toStep(event, page);
    if (step === null) return [];
    const { title, isSetback = false } = step;
    const detail = transaction(page, event.tx_hash);
    return [{ title, at: timeAndBlock(event, page), detail, state: isSetback ? "failed" : "done" }];
  });
}

export function lifeCard(steps: readonly TimelineStep[], events: EventsData, page: PageContext): Html {
  return card("Life", html`${timeline(steps)}${unreadNotice(events, page)}${sourceLinks(page, events.call)}`);
}

/** As many rows of a related list as a page shows. */
export const RELATED_ROWS = "6";

/** A list of what belongs to the record of the page, with the way to all of it. */
export function relatedCard<T>(
  title: string,
  data: ListData<T>,
  page: PageContext,
  /** Columns that are the same in every row. */
  hidden: readonly string[] = [],
): Html {
  const list: List<T> = { ...withoutColumns(data.list, hidden), empty: "None at this block." };
  return listCard(title, { ...data, list }, page, { more: data.next === null ? undefined : "All of them" });
}

type OfBlock = { readonly block_number: string };

/** The list with other links to blocks: records about another may be older than its page. */
export function withBlocks<T extends OfBlock>(
  data: ListData<T>,
  show: (record: OfBlock, page: PageContext) => Html,
): ListData<T> {
  const columns = data.list.columns.map(
    (item): Item<T> => (item[1] === "block_number" ? [item[0], show, "number"] : item),
  );
  return { ...data, list: { ...data.list, columns } };
}

/** Newest signals about the record of the page: anyone may signal about a number before it exists. */
export function signalsCard<T extends OfBlock>(signals: ListData<T>, page: PageContext): Html {
  const shown = withBlocks(signals, ({ block_number }, at) =>
    recordLink(at, "block", block_number, number(block_number)),
  );
  return relatedCard("Newest trust signals", shown, page, ["About"]);
}

/** Two columns of cards. */
export function columns(left: HtmlValue, right: HtmlValue, isWideFirst = false): Html {
  return html`<div class="columns${isWideFirst && " wide-first"}"><div>${left}</div><div>${right}</div></div>`;
}
