// Events of the protocol on a page: read with what they are about, and shown as sentences.
import { type Html, html } from "../lib/html.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import type { ApiCall } from "./api-call.ts";
import type { ApiReader, ApiResult } from "./api-reader.ts";
import { block, number, recordLink, time, transaction } from "./components.ts";
import { type Changes, type Head, linkTo, type PageContext } from "./context.ts";
import { toWords } from "./format.ts";
import { type CsvSource, table } from "./list.ts";
import { type IntentTokens, QUOTING_EVENTS, sentence } from "./sentences.ts";
import { sourceLinks } from "./source.ts";

/** As GET /events has it. */
export type EventRecord = {
  readonly id: string;
  readonly type: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
  readonly tx_hash: string;
  readonly log_index: number;
  readonly block_number: string;
  readonly block_timestamp: string;
};

export type EventPage = {
  readonly events: readonly EventRecord[];
  /** Every event up to this block has been read. */
  readonly progress: { readonly cursor: string; readonly block_number: string };
  readonly has_more: boolean;
};

export type EventsData = {
  readonly call: ApiCall;
  /** In order, those after the shown block too. */
  readonly events: readonly EventRecord[];
  /** Where the events go on. */
  readonly cursor: string;
  /** Whether there are more than a page shows. */
  readonly isCut: boolean;
};

/** Events as a file. The API reads them in the order of the chain, from where the last page ended. */
export const eventCsv: CsvSource = {
  route: "/events",
  key: "events",
  csv: "/events.csv",
  query: { from: "genesis" },
  paging: {
    parameter: "from",
    nextOf: (body) => {
      const { has_more, progress } = body as unknown as EventPage;
      return has_more ? progress.cursor : null;
    },
  },
  blockOf: ({ block_number }) => String(block_number),
};

/** Where events came from, and the same as a file: up to the shown block, or to a given one. */
export function eventSource(page: PageContext, call: ApiCall, upTo: string | null = page.block): Html {
  const { limit: _limit, include: _include, ...filters } = call.query;
  const csv = linkTo(page, eventCsv.csv, { ...filters, block: upTo });
  return sourceLinks(page, call, { csv, isList: false });
}

const PAGE_EVENTS = 200;
// Rare filters need several pages to find anything: a page of the API looks through a thousand logs.
const PAGES_MAX = 5;

/** The events that match, from a block on; all of them unless there are very many. */
export async function readEvents(
  api: ApiReader,
  fromBlock: string,
  filter: Readonly<Record<string, string>>,
): Promise<EventsData> {
  const query = { ...filter, limit: String(PAGE_EVENTS) };
  const first = await api.get<EventPage>("/events", { query: { ...query, from: fromBlock } });
  const events = [...first.body.events];
  let last = first.body;
  for (let page = 1; page < PAGES_MAX && last.has_more; page += 1) {
    last = (await api.get<EventPage>("/events", { query: { ...query, from: last.progress.cursor } })).body;
    events.push(...last.events);
  }
  return { call: first.call, events, cursor: last.progress.cursor, isCut: last.has_more };
}

// Steps back of one page, and pages of events: some ten thousand of one block. Together far below what a page may request.
const BLOCKS_BACK_MAX = 10;
const READS_MAX = 16;
// Little is read beyond a block of ordinary size, and a large one takes few requests.
const FIRST_READ_EVENTS = "200";
const NEXT_READ_EVENTS = "1000";

type BlockEvents = EventsData & { readonly reads: number };

/** The events of one block, unless it takes more than so many reads. */
async function readBlockEvents(api: ApiReader, block: string, readsMax: number): Promise<BlockEvents> {
  const isRead = ({ has_more, progress }: EventPage) =>
    !has_more || BigInt(progress.block_number) >= BigInt(block);
  const { call, body } = await api.get<EventPage>("/events", {
    query: { from: block, limit: FIRST_READ_EVENTS },
  });
  const events = [...body.events];
  let [last, reads] = [body, 1];
  for (; !isRead(last) && reads < readsMax; reads += 1) {
    const query = { from: last.progress.cursor, limit: NEXT_READ_EVENTS };
    last = (await api.get<EventPage>("/events", { query })).body;
    events.push(...last.events);
  }
  const own = events.filter(({ block_number }) => block_number === block);
  return { call, events: own, cursor: last.progress.cursor, isCut: !isRead(last), reads };
}

type NewestEvents = EventsData & {
  /** The nearest earlier block with events; null if all were read. */
  readonly previous: string | null;
};

/**
 * The newest events up to a block, in order: as many as wanted or more, unless they are in many blocks. The API reads
 * forwards, so that the newest block is read first, and earlier ones until there are enough.
 */
export async function readNewestEvents(
  api: ApiReader,
  { block_number, previous_event_block }: Pick<Head, "block_number" | "previous_event_block">,
  wanted: number,
): Promise<NewestEvents> {
  const newest = await readBlockEvents(api, block_number, READS_MAX);
  let { call, events, isCut, reads } = newest;
  let previous = previous_event_block;
  for (let steps = 0; steps < BLOCKS_BACK_MAX && reads < READS_MAX; steps += 1) {
    if (isCut || previous === null || events.length >= wanted) break;
    const [head, older]: [ApiResult<Head>, BlockEvents] = await Promise.all([
      api.get<Head>("/head", { query: { block: previous } }),
      readBlockEvents(api, previous, READS_MAX - reads),
    ]);
    // Its newest events are missing: the next page begins with it.
    if (older.isCut && events.length > 0) break;
    reads += older.reads;
    ({ call, isCut } = older);
    events = [...older.events, ...events];
    previous = head.body.previous_event_block;
  }
  return { call, events, cursor: newest.cursor, isCut, previous };
}

/** Those that the shown block has. */
export function eventsUpTo(
  events: readonly EventRecord[],
  { head }: Pick<PageContext, "head">,
): readonly EventRecord[] {
  return events.filter(({ block_number }) => BigInt(block_number) <= BigInt(head.block_number));
}

/** The blocks around the shown one in which these events happened. */
export function changesOf(events: readonly EventRecord[], { head }: Pick<PageContext, "head">): Changes {
  const shown = BigInt(head.block_number);
  const blocks = events.map(({ block_number }) => block_number);
  return {
    previous: blocks.findLast((each) => BigInt(each) < shown) ?? null,
    next: blocks.find((each) => BigInt(each) > shown) ?? null,
  };
}

type EventTableOptions = {
  /** Tokens of the intents that the sentences name. */
  readonly intents?: IntentTokens;
  /** For a page of events alone: with their types, and links to their blocks instead of this page as of them. */
  readonly isOwnPage?: boolean;
};

/** Events as rows, each with its sentence. */
export function eventTable(
  events: readonly EventRecord[],
  page: PageContext,
  { intents, isOwnPage = false }: EventTableOptions = {},
): Html {
  const columns: Parameters<typeof table<EventRecord>>[0] = [
    {
      label: "Block",
      kind: "number",
      cell: ({ block_number }) =>
        isOwnPage ? recordLink(page, "block", block_number, number(block_number)) : block(page, block_number),
    },
    { label: "Time", cell: ({ block_timestamp }) => time(block_timestamp) },
    ...(isOwnPage ? [{ label: "Event", cell: ({ type }: EventRecord) => toWords(type) }] : []),
    { label: "What happened", kind: "sentence", cell: (event) => sentence(page, event, intents) },
    { label: "Transaction", cell: ({ tx_hash }) => transaction(page, tx_hash) },
  ];
  return table(columns, events, page);
}

type Feed = Pick<EventsData, "events" | "cursor"> & { readonly intents: IntentTokens };

/** Newest first, as the live feed adds them: it goes on from the cursor, and knows the same tokens. */
export function eventFeed({ events, cursor, intents }: Feed, page: PageContext): Html {
  const { native, tokens } = page.site.chain;
  const known = JSON.stringify({ [ZERO_ADDRESS]: native, ...tokens });
  return html`<ol class="feed" data-feed="${cursor}" data-quoting="${QUOTING_EVENTS.join(" ")}" data-tokens="${known}">${events.toReversed().map((each) => eventItem(each, intents, page))}</ol>`;
}

function eventItem(event: EventRecord, intents: IntentTokens, page: PageContext): Html {
  const { type, tx_hash, block_number, block_timestamp } = event;
  return html`<li data-block="${block_number}"><span class="feed-type">${toWords(type)}</span> <span class="feed-text">${sentence(page, event, intents)}</span> <span class="feed-place">${block(page, block_number)} · ${transaction(page, tx_hash)} · ${time(block_timestamp)}</span></li>`;
}
