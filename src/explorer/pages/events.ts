// Events of the protocol: the newest ones, or those that a filter finds in the order of the chain; and those of a block.
import type { RouteDescription } from "../../http/openapi/route-description.ts";
import { findRoute } from "../api-call.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { block, card, facts, number, recordLink, sentence, time, transaction } from "../components.ts";
import {
  EXPLORER_PATH,
  type Head,
  linkHere,
  linkTo,
  type PageContext,
  type PageRequest,
  requireParam,
} from "../context.ts";
import { changesOf, type EventRecord } from "../events.ts";
import { toWords } from "../format.ts";
import { type Html, html } from "../html.ts";
import { table } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";

type EventPage = {
  readonly events: readonly EventRecord[];
  readonly progress: { readonly cursor: string };
  readonly has_more: boolean;
};

const SUBJECTS = ["agent", "intent", "account", "merchant", "service", "solver"] as const;
const FILTERS = ["type", ...SUBJECTS, "finality"] as const;

type EventsData = {
  readonly found: ApiResult<EventPage>;
  readonly events: readonly EventRecord[];
  /** Newest first: the block before which the next page goes on; null at the first event. */
  readonly before: string | null;
  readonly isNewestFirst: boolean;
};

// Each step is a small read; a page of events has enough to look at after a few blocks.
const BLOCKS_BACK = 10;
const PAGE_EVENTS = "100";
const READ_EVENTS = "1000";
// Reading goes forwards, so that the newest come last: enough for ten blocks that are full of events.
const READ_PAGES_MAX = 5;
const SHOWN_EVENTS_MAX = 100;

async function load(api: ApiReader, request: PageRequest): Promise<EventsData> {
  const { query } = request;
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const isFiltered = FILTERS.some((name) => query[name] !== undefined) || query.from !== undefined;
  if (!isFiltered) return loadNewest(api, query.before);
  const found = await api.get<EventPage>("/events", {
    query: { ...filter, from: query.from ?? "genesis", limit: PAGE_EVENTS },
  });
  return { found, events: found.body.events, before: null, isNewestFirst: false };
}

/** The API reads events forwards: their blocks are found backwards first, one step at a time. */
async function loadNewest(api: ApiReader, before: string | undefined): Promise<EventsData> {
  const head =
    before === undefined
      ? await api.head()
      : (await api.get<Head>("/head", { query: { block: before } })).body;
  // At the latest block the block itself counts, on a later page only those before it.
  const last = before === undefined ? head.block_number : (head.previous_event_block ?? "0");
  let [first, previous] = [last, head.previous_event_block];
  for (let steps = 0; steps < BLOCKS_BACK && previous !== null; steps += 1) {
    first = previous;
    const { body }: ApiResult<Head> = await api.get<Head>("/head", { query: { block: first } });
    previous = body.previous_event_block;
  }
  const found = await api.get<EventPage>("/events", { query: { from: first, limit: READ_EVENTS } });
  const all = [...found.body.events];
  for (let { body } = found, page = 1; page < READ_PAGES_MAX && body.has_more; page += 1) {
    ({ body } = await api.get<EventPage>("/events", {
      query: { from: body.progress.cursor, limit: READ_EVENTS },
    }));
    all.push(...body.events);
  }
  const newest = all.filter(({ block_number }) => BigInt(block_number) <= BigInt(last)).toReversed();
  const shown = cutToBlocks(newest);
  const isAll = shown.length === newest.length && previous === null;
  const lowest = shown.at(-1)?.block_number ?? first;
  return { found, events: shown, before: isAll ? null : lowest, isNewestFirst: true };
}

/** As many whole blocks as a page shows; of a block that is larger alone, its newest part. */
export function cutToBlocks(events: readonly EventRecord[]): readonly EventRecord[] {
  if (events.length <= SHOWN_EVENTS_MAX) return events;
  const cut = events.slice(0, SHOWN_EVENTS_MAX);
  const last = cut.at(-1)?.block_number;
  const whole = cut.filter(({ block_number }) => block_number !== last);
  return whole.length > 0 ? whole : cut;
}

const EVENT_COLUMNS: Parameters<typeof table<EventRecord>>[0] = [
  {
    label: "Block",
    kind: "number",
    cell: ({ block_number }, page) => recordLink(page, "block", block_number, number(block_number)),
  },
  { label: "Time", cell: ({ block_timestamp }) => time(block_timestamp) },
  { label: "Event", cell: ({ type }) => toWords(type) },
  { label: "What happened", kind: "sentence", cell: (event, page) => sentence(page, event) },
  { label: "Transaction", cell: ({ tx_hash }, page) => transaction(page, tx_hash) },
];

const HINTS: Readonly<Record<string, string>> = {
  type: "IntentFilled,…",
  account: "0x… address",
  from: "genesis, head or block",
};

function filterField(
  { name, kind, description }: RouteDescription["parameters"][number],
  page: PageContext,
): Html {
  const id = `filter-${name}`;
  const value = page.query[name] ?? "";
  const options = Array.isArray(kind.json.enum) ? kind.json.enum.map(String) : null;
  const input =
    options === null
      ? html`<input id="${id}" name="${name}" value="${value}" title="${description}" placeholder="${HINTS[name] ?? "Id"}" autocomplete="off" spellcheck="false" autocapitalize="off">`
      : html`<select id="${id}" name="${name}" title="${description}"><option value="">Any</option>${options.map((option) => html`<option value="${option}"${option === value && html` selected`}>${toWords(option)}</option>`)}</select>`;
  return html`<div class="field"><label for="${id}">${toWords(name)}</label>${input}</div>`;
}

/** Every filter of the route; without JavaScript too. */
function eventFilters(page: PageContext): Html {
  const known: readonly string[] = [...FILTERS, "from"];
  const parameters = findRoute(page.site.routes, "/events").parameters.filter(({ name }) =>
    known.includes(name),
  );
  const isFiltered = known.some((name) => page.query[name] !== undefined);
  return html`<form class="filters" method="get" action="${EXPLORER_PATH}${page.path}" role="search" aria-label="Filters">${parameters.map((each) => filterField(each, page))}${page.block !== null && html`<input type="hidden" name="block" value="${page.block}">`}<div class="field actions"><button>Filter</button>${isFiltered && html`<a href="${linkTo(page, page.path)}">Clear</a>`}</div></form>`;
}

function pageLinks({ found, before, isNewestFirst }: EventsData, page: PageContext): Html | null {
  const { events, has_more, progress } = found.body;
  const isBeyond = BigInt(events.at(-1)?.block_number ?? 0) > BigInt(page.head.block_number);
  const next = isNewestFirst
    ? before !== null && html`<a rel="next" href="${linkHere(page, { before })}">Older →</a>`
    : has_more &&
      !isBeyond &&
      html`<a rel="next" href="${linkHere(page, { from: progress.cursor })}">Next →</a>`;
  if (next === false) return null;
  return html`<nav class="pagination" aria-label="Pages">${next}</nav>`;
}

/** Those up to the shown block: the API reads events to its head. */
const upTo = (events: readonly EventRecord[], { head }: PageContext) =>
  events.filter(({ block_number }) => BigInt(block_number) <= BigInt(head.block_number));

function render(data: EventsData, page: PageContext): PageView {
  const events = upTo(data.events, page);
  const rows =
    events.length === 0
      ? html`<p class="empty">${data.found.body.has_more ? "None among the events that were looked through; there are more." : "There is no such event at this block."}</p>`
      : table(EVENT_COLUMNS, events, page);
  const title = data.isNewestFirst ? "Newest first" : "In the order of the chain";
  return {
    title: "Events",
    lead: "Everything that happened in the protocol, each in a sentence. The API has the same as a stream, with an undo after a reorg.",
    main: html`${eventFilters(page)}${card(title, html`${rows}${pageLinks(data, page)}${sourceLinks(page, data.found.call)}`, { id: "events" })}`,
  };
}

export const eventsPage = definePage({
  path: "/events",
  nav: "Events",
  query: [...FILTERS, "from", "before"],
  findExample: async () => ({}),
  load,
  render,
});

type BlockData = { readonly number: string; readonly head: Head; readonly found: ApiResult<EventPage> };

async function loadBlock(api: ApiReader, request: PageRequest): Promise<BlockData> {
  const number = requireParam(request, "id");
  // The API's own sentence for what is no block, or none that is indexed.
  const { body: head } = await api.get<Head>("/head", { query: { block: number } });
  const found = await api.get<EventPage>("/events", { query: { from: number, limit: "1000" } });
  return { number, head, found };
}

function renderBlock({ number: given, head, found }: BlockData, page: PageContext): PageView {
  const events = upTo(found.body.events, page).filter(({ block_number }) => block_number === given);
  const [first] = events;
  const isLater = BigInt(given) > BigInt(page.head.block_number);
  const isFinal = BigInt(given) <= BigInt(head.finalized_block);
  const { explorerUrl } = page.site.chain;
  const neighbour = (value: string | null) =>
    value !== null && recordLink(page, "block", value, number(value));
  const transactions = new Set(events.map(({ tx_hash }) => tx_hash)).size;
  const rows =
    events.length === 0
      ? html`<p class="empty">${isLater ? "It comes after the block that this page shows." : "No event of the protocol is in this block."}</p>`
      : table(EVENT_COLUMNS, events, page);
  return {
    kicker: "Block",
    title: `Block ${given}`,
    main: html`${card(
      "Block",
      facts([
        ["Time", first === undefined ? null : time(first.block_timestamp)],
        ["State", isFinal ? "final" : "not final yet"],
        ["Events of the protocol", number(String(events.length))],
        ["Transactions of the protocol", number(String(transactions))],
        ["Before it, with events", neighbour(head.previous_event_block)],
        ["After it, with events", neighbour(head.next_event_block)],
        ["This page as of it", block(page, given)],
        [
          "Elsewhere",
          explorerUrl === null
            ? null
            : html`<a href="${explorerUrl}/block/${given}" rel="noopener noreferrer">Explorer of the chain ↗</a>`,
        ],
      ]),
      { id: "record" },
    )}${card("Events", html`${rows}${sourceLinks(page, found.call)}`)}`,
    changes: changesOf(
      found.body.events.filter(({ block_number }) => block_number === given),
      page,
    ),
  };
}

export const blockPage = definePage({
  path: "/blocks/:id",
  findExample: async (get) => {
    const { events } = (await get("/events?limit=1")) as EventPage;
    return { params: { id: events[0]?.block_number ?? "1" } };
  },
  load: loadBlock,
  render: renderBlock,
});
