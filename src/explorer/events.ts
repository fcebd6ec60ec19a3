// Events of the protocol on a page: read with what they are about, and shown as sentences.
import type { ApiCall } from "./api-call.ts";
import type { ApiReader } from "./api-reader.ts";
import { block, QUOTING_EVENTS, sentence, time, transaction } from "./components.ts";
import type { Changes, PageContext } from "./context.ts";
import { toWords } from "./format.ts";
import { type Html, html } from "./html.ts";

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

type EventPage = {
  readonly events: readonly EventRecord[];
  readonly progress: { readonly cursor: string };
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

/** Newest first, as the live feed adds them: it goes on from the cursor. */
export function eventFeed(events: readonly EventRecord[], cursor: string, page: PageContext): Html {
  return html`<ol class="feed" data-feed="${cursor}" data-quoting="${QUOTING_EVENTS.join(" ")}">${events.toReversed().map((each) => eventItem(each, page))}</ol>`;
}

function eventItem(event: EventRecord, page: PageContext): Html {
  const { type, tx_hash, block_number, block_timestamp } = event;
  return html`<li data-block="${block_number}"><span class="feed-type">${toWords(type)}</span> <span class="feed-text">${sentence(page, event)}</span> <span class="feed-place">${block(page, block_number)} · ${transaction(page, tx_hash)} · ${time(block_timestamp)}</span></li>`;
}
