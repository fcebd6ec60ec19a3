// Events of the protocol: the newest first, or in the order of the chain from a given position on; and those of a block.
import { type Html, html } from "../../lib/html.ts";
import { isMoment } from "../../lib/moment.ts";
import { EVENT_TYPES } from "../../protocol/event-filter.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { block, card, facts, notice, number, recordLink, time } from "../components.ts";
import {
  type ApiCall,
  type Head,
  linkHere,
  linkTo,
  type PageContext,
  type PageRequest,
  requireParam,
  shownNumber,
} from "../context.ts";
import {
  changesOf,
  type ExplainedPage,
  eventCsv,
  eventSource,
  eventsUpTo,
  eventTable,
  getEvents,
  type ListedEvent,
} from "../events.ts";
import { formatNumber, splitWords } from "../format.ts";
import { type Choice, countNote, type FilteredList, type Sort } from "../list.ts";
import { defineFilteredPage, definePage, type PageView } from "../page.ts";

const SUBJECTS = ["agent", "intent", "account", "merchant", "service", "solver"] as const;
const FILTERS = ["type", ...SUBJECTS, "finality"] as const;

type FoundEvents = {
  readonly call: ApiCall;
  readonly events: readonly ListedEvent[];
  /** The query of the next page; null at the end. */
  readonly next: Readonly<Record<string, string>> | null;
  readonly isNewestFirst: boolean;
};

const SHOWN_EVENTS_MAX = 100;

/** The newest first, unless the visitor chooses the order of the chain or where to begin. */
async function load(api: ApiReader, request: PageRequest): Promise<FoundEvents> {
  const { query } = request;
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const isNewestFirst = query.order === "desc" || (query.order ?? query.from) === undefined;
  const order = isNewestFirst ? "desc" : undefined;
  const given = query.from ?? (isNewestFirst ? shownNumber(request) : "genesis");
  const from = given !== null && isMoment(given) ? await api.findBlockAt(given, "from") : given;
  const read = (position: string | null, limit: number) =>
    getEvents(api, { ...filter, from: position, order, limit: String(limit) });
  const first = await read(from, SHOWN_EVENTS_MAX);
  const events = [...first.body.events];
  let last = first.body;
  // A request looks through a limited number of logs: rare events need several for a page. One is for the head.
  while (last.has_more && events.length < SHOWN_EVENTS_MAX && api.requestsLeft > 1) {
    last = (await read(last.progress.cursor, SHOWN_EVENTS_MAX - events.length)).body;
    events.push(...last.events);
  }
  const next = last.has_more ? { from: last.progress.cursor, ...(isNewestFirst && { order: "desc" }) } : null;
  return { call: first.call, events, next, isNewestFirst };
}

/** A link of a record's page may ask for several types at once. */
function listTypes({ query: { type = "" } }: PageContext): readonly Choice[] {
  const count = type.split(",").length;
  const asked: readonly Choice[] = count > 1 ? [[type, `${count} types`]] : [];
  return [...asked, ...EVENT_TYPES.map((each): Choice => [each, splitWords(each)])];
}

const eventFilters: FilteredList = {
  route: "/events",
  filters: [...FILTERS, "from", "at"],
  hints: {
    ...Object.fromEntries(SUBJECTS.map((name) => [name, "Id"])),
    account: "0x… address",
    from: "genesis, head, block or 5m",
  },
  choices: { type: listTypes },
  // A cursor that leads backwards is not a filter, and cannot be used with the order of the chain.
  isHidden: (name, { query }) => name === "from" && query.order === "desc",
};

const FROM_THE_START = { from: null, order: null };

function pageLinks({ events, next, isNewestFirst }: FoundEvents, page: PageContext): Html {
  const isBeyond =
    !isNewestFirst && BigInt(events.at(-1)?.block_number ?? 0) > BigInt(page.head.block_number);
  const isLater = isNewestFirst && page.query.from !== undefined;
  const hasNext = next !== null && !isBeyond;
  const count = formatNumber(String(eventsUpTo(events, page).length)).text;
  const position =
    page.query.from !== undefined
      ? hasNext
        ? "More follow."
        : "These are the last."
      : hasNext
        ? `More than ${count}.`
        : `${count} in all.`;
  if (!hasNext && !isLater) return countNote(position);
  return html`${countNote(position)}<nav class="pagination" aria-label="Pages">${isLater && html`<a href="${linkHere(page, FROM_THE_START)}">Newest</a>`}${hasNext && html`<a rel="next" href="${linkHere(page, next)}">${isNewestFirst ? "Older →" : "Next →"}</a>`}</nav>`;
}

/** The other order of the same events. */
const otherOrder = ({ isNewestFirst }: FoundEvents, page: PageContext) =>
  linkHere(page, { from: null, order: isNewestFirst ? "asc" : null });

/** On a phone, where a table has no heads, this is the only link to the other order. */
const orderLink = (data: FoundEvents, page: PageContext) =>
  html`<a href="${otherOrder(data, page)}">${data.isNewestFirst ? "Oldest first" : "Newest first"}</a>`;

const sortOf = (data: FoundEvents, page: PageContext): Sort => ({
  label: "Block",
  direction: data.isNewestFirst ? "descending" : "ascending",
  other: otherOrder(data, page),
});

/** All of them are in the list that reads forwards. */
const allOfBlock = (page: PageContext, given: string) =>
  notice(
    "info",
    html`Block ${number(given)} has more events of the protocol than are listed here. <a href="${linkTo(page, "/events", { from: given })}">All of them, in the order of the chain</a>.`,
  );

function render(data: FoundEvents, page: PageContext): Html {
  const events = eventsUpTo(data.events, page);
  const rows =
    events.length === 0
      ? html`<p class="empty">${data.next !== null ? "None among the events that were looked through; there are more." : "There is no such event at this block."}</p>`
      : eventTable(events, page, { isOwnPage: true, sort: sortOf(data, page) });
  const title = data.isNewestFirst ? "Newest first" : "In the order of the chain";
  const content = html`${rows}${pageLinks(data, page)}${eventSource(page, data.call)}`;
  return card(title, content, { id: "events", aside: orderLink(data, page) });
}

export const eventsPage = defineFilteredPage({
  title: "Events",
  lead: "Everything that happened in the protocol, each in a sentence. The API has the same as a stream, with an undo after a reorg.",
  filters: eventFilters,
  path: "/events",
  nav: "Events",
  lists: [eventCsv],
  query: [...FILTERS, "from", "order"],
  findExample: async () => ({}),
  load,
  render,
});

// One more than is shown, which tells whether there are more.
const BLOCK_EVENTS = String(SHOWN_EVENTS_MAX + 1);

type BlockData = {
  readonly number: string;
  readonly head: Head;
  readonly found: ApiResult<ExplainedPage>;
};

async function loadBlock(api: ApiReader, request: PageRequest): Promise<BlockData> {
  const number = requireParam(request, "id");
  // The API's own sentence for an invalid block, or one that is not indexed.
  const { body: head } = await api.get<Head>("/head", { query: { block: number } });
  return { number, head, found: await getEvents(api, { from: number, limit: BLOCK_EVENTS }) };
}

function renderBlock({ number: given, head, found }: BlockData, page: PageContext): PageView {
  const { events: read, has_more, progress } = found.body;
  const inBlock = eventsUpTo(read, page).filter(({ block_number }) => block_number === given);
  const events = inBlock.slice(0, SHOWN_EVENTS_MAX);
  const [first] = events;
  const isLater = BigInt(given) > BigInt(page.head.block_number);
  // Large events fill a page of the API before there are as many.
  const isUnread = has_more && BigInt(progress.block_number) < BigInt(given);
  const isCut = !isLater && (inBlock.length > events.length || isUnread);
  const isFinal = BigInt(given) <= BigInt(head.finalized_block);
  const { explorerUrl } = page.site.chain;
  const neighbour = (value: string | null) =>
    value !== null && recordLink(page, "block", value, number(value));
  const transactions = new Set(events.map(({ tx_hash }) => tx_hash)).size;
  const rows =
    events.length === 0
      ? html`<p class="empty">${isLater ? "It comes after the block that this page shows." : "No event of the protocol is in this block."}</p>`
      : eventTable(events, page, { isOwnPage: true });
  return {
    kicker: "Block",
    title: `Block ${given}`,
    main: html`${card(
      "Block",
      facts([
        ["Time", first === undefined ? null : time(first.block_timestamp)],
        ["State", isFinal ? "final" : "not final yet"],
        ["Events of the protocol", html`${isCut && "more than "}${number(String(events.length))}`],
        ["Transactions of the protocol", html`${isCut && "at least "}${number(String(transactions))}`],
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
    )}${card("Events", html`${rows}${isCut && allOfBlock(page, given)}${eventSource(page, found.call, given)}`)}`,
    changes: changesOf(
      found.body.events.filter(({ block_number }) => block_number === given),
      page,
    ),
  };
}

export const blockPage = definePage({
  path: "/blocks/:id",
  findExample: async (get) => {
    const { events } = (await get("/events?limit=1")) as ExplainedPage;
    return { params: { id: events[0]?.block_number ?? "1" } };
  },
  load: loadBlock,
  render: renderBlock,
});
