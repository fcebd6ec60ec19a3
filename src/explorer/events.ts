// Events of the protocol on a page: read with what they are about, and shown as sentences.
import { type Html, html } from "../lib/html.ts";
import type { EventPage, EventRecord } from "../protocol/event-page.ts";
import type { Sentence, SentencePart } from "../schema/sentence.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import type { ApiReader, ApiResult } from "./api-reader.ts";
import {
  addressLink,
  amount,
  block,
  findToken,
  hash,
  listRecordPaths,
  number,
  recordLink,
  time,
  token,
  transaction,
} from "./components.ts";
import { type ApiCall, type Changes, linkTo, type PageContext, sourceLinks } from "./context.ts";
import { type Item, namedLink } from "./fields.ts";
import { formatSeconds, renderForeignText, splitWords } from "./format.ts";
import { type CsvSource, csvOf, type Sort, table } from "./list.ts";

/** An event with its sentence. */
export type ListedEvent = Pick<
  Required<EventRecord>,
  "id" | "type" | "args" | "parts" | "log_index" | "block_number" | "block_timestamp"
> & { readonly tx_hash: string };

/** A page of GET /events with include=parts, or with more. */
export type ExplainedPage<Event = ListedEvent> = Pick<EventPage, "progress" | "has_more"> & {
  readonly events: readonly Event[];
};

export type EventsData = {
  readonly call: ApiCall;
  /** In order: the first and the newest up to the shown block, and some after it. */
  readonly events: readonly ListedEvent[];
  /** The block before which some may be missing, up to the first ones; null if every one up to the shown block is read. */
  readonly unreadBefore: string | null;
  /** The cursor from which they can be read, newest first; null if none is missing. */
  readonly older: string | null;
  /** Whether some after the shown block may be missing. */
  readonly isOpenEnded: boolean;
};

export type NewestEvents = {
  readonly call: ApiCall;
  readonly events: readonly ListedEvent[];
  /** The cursor at which a stream goes on. */
  readonly cursor: string;
  /** The cursor of what is older; null at the end. */
  readonly next: string | null;
};

/** Events as a file. The API reads them in the order of the chain, from the end of the last page. */
export const eventCsv: CsvSource = {
  route: "/events",
  paging: {
    parameter: "from",
    nextOf: ({ has_more, progress }: EventPage) => (has_more ? progress.cursor : null),
  },
  blockOf: ({ block_number }) => String(block_number),
};

/** The source of the events, and the same as a file: up to the shown block, or to a given one. */
export function eventSource(page: PageContext, call: ApiCall, upTo: string | null = page.block): Html {
  const { limit: _limit, include: _include, ...filters } = call.query;
  const csv = linkTo(page, csvOf(eventCsv), { ...filters, block: upTo });
  return sourceLinks(page, call, { csv, isList: false });
}

type EventsQuery = Readonly<Record<string, string | null | undefined>>;

export function getEvents(api: ApiReader, query: EventsQuery): Promise<ApiResult<ExplainedPage>> {
  return api.get<ExplainedPage>("/events", { query: { ...query, include: "parts" } });
}

const PAGE_EVENTS = "1000";

/**
 * The events that match, from a block on. Each request looks through a limited number of logs: one reads the first
 * events, and those that the page has left, but for those that it still needs, read backwards from the shown block.
 */
export async function readEvents(
  api: ApiReader,
  fromBlock: string,
  filter: Readonly<Record<string, string>>,
  reserved = 0,
): Promise<EventsData> {
  const query = { ...filter, limit: PAGE_EVENTS };
  const { call, body: first } = await getEvents(api, { ...query, from: fromBlock });
  const { shownBlock: shown } = api;
  const readUpTo = BigInt(first.progress.block_number);
  const isOpenEnded = first.has_more && shown !== null;
  if (!first.has_more || (shown !== null && readUpTo >= BigInt(shown)))
    return { call, events: first.events, unreadBefore: null, older: null, isOpenEnded };
  const newest: ListedEvent[] = [];
  let position = shown;
  let unreadBefore: string | null;
  do {
    const { body } = await getEvents(api, { ...query, from: position, order: "desc" });
    newest.unshift(...body.events.toReversed());
    position = body.progress.cursor;
    const isWhole = !body.has_more || BigInt(body.progress.block_number) <= readUpTo + 1n;
    unreadBefore = isWhole ? null : body.progress.block_number;
  } while (unreadBefore !== null && api.requestsLeft > reserved);
  const known = new Set(first.events.map(({ id }) => id));
  const events = [...first.events, ...newest.filter(({ id }) => !known.has(id))];
  const older = unreadBefore === null ? null : position;
  return { call, events, unreadBefore, older, isOpenEnded };
}

/** The same events on a page of their own, where each page leads to the next: the newest first, or those before a cursor. */
export function eventsPath(page: PageContext, { query }: ApiCall, from: string | null = null): string {
  const { limit: _limit, include: _include, from: _from, ...filters } = query;
  return linkTo(page, "/events", { ...filters, ...(from !== null && { from, order: "desc" }) });
}

/** The events of a record whose state they explain, so that none is missing, however few logs were looked through. */
export function asExplained(data: EventsData, isExplained: boolean): EventsData {
  return isExplained ? { ...data, unreadBefore: null, older: null } : data;
}

/** The newest events up to the shown block, none of them missing; in order. */
export function newestEvents(
  { events, unreadBefore }: EventsData,
  page: Pick<PageContext, "head">,
): readonly ListedEvent[] {
  return eventsUpTo(events, page).filter(
    ({ block_number }) => unreadBefore === null || BigInt(block_number) >= BigInt(unreadBefore),
  );
}

/** The newest events up to the shown block, newest first. */
export async function readNewestEvents(api: ApiReader, query: EventsQuery): Promise<NewestEvents> {
  const { body, call } = await getEvents(api, { ...query, order: "desc" });
  const { events, progress, has_more } = body;
  return { call, events, cursor: progress.forward_cursor ?? "", next: has_more ? progress.cursor : null };
}

/** The events up to the shown block. */
export function eventsUpTo(
  events: readonly ListedEvent[],
  { head }: Pick<PageContext, "head">,
): readonly ListedEvent[] {
  return events.filter(({ block_number }) => BigInt(block_number) <= BigInt(head.block_number));
}

/** The blocks around the shown one in which these events happened. */
export function changesOf(events: readonly ListedEvent[], { head }: Pick<PageContext, "head">): Changes {
  const shown = BigInt(head.block_number);
  const blocks = events.map(({ block_number }) => block_number);
  return {
    previous: blocks.findLast((each) => BigInt(each) < shown) ?? null,
    next: blocks.find((each) => BigInt(each) > shown) ?? null,
  };
}

/** A sentence of the API: records and addresses as links, amounts with symbol and decimals if known. */
export function renderSentence(page: PageContext, parts: Sentence): Html {
  return html`<span class="sentence">${parts.map((part) => showPart(page, part))}</span>`;
}

function showPart(page: PageContext, part: SentencePart): Html | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "quoted":
      return renderForeignText(part.text);
    case "address":
      return addressLink(page, part.text);
    case "token":
      return token(page, part.text);
    case "hash":
      return hash(page, part.text);
    case "time":
      // Not as a distance from now, which does not fit into every sentence: "until in 7 days".
      return formatSeconds(part.text)?.text ?? time(part.text);
    case "record":
      return part.text === part.id
        ? hash(page, part.id, part.record)
        : namedLink(page, part.record, part.id, part.text === `#${part.id}` ? undefined : part.text);
    case "amount":
      return findToken(page, part.token) !== null || part.text === part.amount
        ? amount(page, part.amount, part.token, true)
        : html`${amount(page, part.amount, part.token)} of ${token(page, part.token)}`;
  }
}

/** The tokens of the intent that is bid on or filled; empty for any other event. */
export function intentTokens({ args, parts }: { readonly args: object; readonly parts: Sentence }) {
  if (!("amountIn" in args)) return {};
  const [input_token, output_token] = parts.flatMap((part) => (part.kind === "amount" ? [part.token] : []));
  return { input_token, output_token };
}

type EventTableOptions = {
  /** For a page of events alone: with their types, and links to their blocks instead of this page as of them. */
  readonly isOwnPage?: boolean;
  /** The order of the blocks, and the same list in the other one. */
  readonly sort?: Sort;
};

/** Events as rows, each with its sentence. */
export function eventTable(
  events: readonly ListedEvent[],
  page: PageContext,
  { isOwnPage = false, sort }: EventTableOptions = {},
): Html {
  const columns: readonly Item<ListedEvent>[] = [
    isOwnPage
      ? ["Block", ({ block_number: at }) => recordLink(page, "block", at, number(at)), "number"]
      : ["Block", "block_number"],
    ["Time", "block_timestamp"],
    ...(isOwnPage ? [["Event", ({ type }) => splitWords(type)] satisfies Item<ListedEvent>] : []),
    ["What happened", ({ parts }) => renderSentence(page, parts), "sentence"],
    ["Transaction", "tx_hash"],
  ];
  return table(columns, events, page, { sort });
}

/** Newest first, as the live feed adds them: it goes on from the cursor, and knows the same tokens and pages. */
export function eventFeed({ events, cursor }: NewestEvents, page: PageContext): Html {
  const { native, tokens, contracts } = page.site.chain;
  const known = JSON.stringify({ [ZERO_ADDRESS]: native, ...tokens });
  const names = JSON.stringify(
    Object.fromEntries(Object.entries(contracts).map(([name, address]) => [address, name])),
  );
  return html`<ol class="feed" data-feed="${cursor}" data-tokens="${known}" data-contracts="${names}" data-pages="${JSON.stringify(listRecordPaths(page))}">${events.map((each) => eventItem(each, page))}</ol>`;
}

function eventItem(event: ListedEvent, page: PageContext): Html {
  const { type, parts, tx_hash, block_number, block_timestamp } = event;
  return html`<li data-block="${block_number}"><span class="feed-type">${splitWords(type)}</span> <span class="feed-text">${renderSentence(page, parts)}</span> <span class="feed-place">${block(page, block_number)} · ${transaction(page, tx_hash)} · ${time(block_timestamp)}</span></li>`;
}
