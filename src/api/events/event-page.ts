// A page of events: what a reader asked for and got, as JSON, as lines and as messages of a stream.

import { type Fault, publicMessage } from "../../lib/fault.ts";
import { stringifyVisibly } from "../../lib/foreign-text.ts";
import {
  type EventFilter,
  type EventSubject,
  type FilteredEvent,
  isOpen,
  matchesFilter,
} from "../../protocol/event-filter.ts";
import type { EventRecord, ProgressRecord, UndoRecord } from "../../protocol/event-page.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { END_OF_BLOCK, type Finality } from "../../store/index/event-logs.ts";
import { type EventCursor, type EventOrder, formatCursor } from "./cursor.ts";

/** The begin: a cursor as text, before the first event of a block, or at an end of the chain. */
export type EventStart =
  | { readonly cursor: string }
  | { readonly block: number }
  | { readonly end: "genesis" | "head" };

/** The events that a reader gets, and what comes with each. */
export type EventSelection = {
  readonly filter: EventFilter;
  readonly finality: Finality;
  /** Whether events have the rows that they changed. */
  readonly rows: boolean;
  /** Whether events have their sentences in parts, for which the tokens of intents are read. */
  readonly parts: boolean;
};

export const EVERY_EVENT: EventFilter = { types: null, subjects: {} };

export type EventsRequest = Pick<EventSelection, "filter" | "finality"> & {
  readonly from: EventStart | EventCursor;
  /** Newest first if `desc`; absent for the order of the chain. */
  readonly order?: EventOrder;
  /** Most events; fewer if their bytes or the logs that were read exceed a limit. */
  readonly limit: number;
  /**
   * The client that reads history, so that readers share it fairly; null reads at the head, which all readers share.
   */
  readonly client: string | null;
  /** Also reads what links events to such things, for filters that are applied later. */
  readonly linkedSubjects?: readonly EventSubject[];
} & Partial<Pick<EventSelection, "rows" | "parts">>;

/** The record, and the same event as filters see it. */
export type DeliveredEvent = { readonly event: FilteredEvent; readonly record: EventRecord };

export type EventsPage = {
  /** The reader was on a branch that is gone: it undoes what came after this block, then goes on from the cursor. */
  readonly undo: UndoRecord | null;
  readonly events: readonly DeliveredEvent[];
  readonly progress: ProgressRecord;
  /** The begin of the next page. */
  readonly cursor: EventCursor;
  /** Whether the next page can be read at once. */
  readonly hasMore: boolean;
  /** Whether the reader is past everything that may be read, and waits for the chain to come there. */
  readonly isAhead: boolean;
  /** The state of the index that the page is of. */
  readonly head: IndexHead;
  /** Unix seconds of the newest block that may be read. */
  readonly timestamp: number;
};

export function describeProgress(cursor: EventCursor, head: IndexHead): ProgressRecord {
  const { block, logIndex, before } = cursor;
  const last = logIndex === END_OF_BLOCK ? block : block - 1;
  const first = before && (before.logIndex === 0 ? before.block : before.block + 1);
  return {
    block_number: String(first ?? last),
    indexed_block: head.number.toString(),
    finalized_block: head.finalized.toString(),
    cursor: formatCursor(cursor),
    ...(before && { forward_cursor: formatCursor({ ...cursor, before: null }) }),
  };
}

/** Nothing to deliver: keeps the connection from looking dead to proxies. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/** JSON has no line breaks of its own, so that one data line is enough. */
function formatMessage(name: string | null, id: string, data: unknown): string {
  return `${name === null ? "" : `event: ${name}\n`}id: ${id}\ndata: ${stringifyVisibly(data)}\n\n`;
}

/** How long a client waits before it connects again. */
export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}

/**
 * The stream cannot begin at the position that the client names. The empty id makes an EventSource forget the one it
 * has, which it would send again forever.
 */
export function formatRejection(fault: Fault): string {
  return formatMessage("rejected", "", { code: fault.code, error: publicMessage(fault) });
}

/** The messages of a page for readers with different filters; the text of each event is made once for all of them. */
export class PageMessages {
  readonly #page: EventsPage;
  readonly #texts = new Map<DeliveredEvent, string>();
  #all: string | null = null;
  #progress: string | null = null;

  constructor(page: EventsPage) {
    this.#page = page;
  }

  /** The undo, if there is one, and the events that pass the filter; with their number. */
  select(filter: EventFilter): { readonly text: string; readonly count: number } {
    const { events } = this.#page;
    if (isOpen(filter)) {
      this.#all ??= this.#join(events);
      return { text: this.#all, count: events.length };
    }
    const passing = events.filter(({ event }) => matchesFilter(event, filter));
    return { text: this.#join(passing), count: passing.length };
  }

  get progress(): string {
    const { progress } = this.#page;
    this.#progress ??= formatMessage("progress", progress.cursor, progress);
    return this.#progress;
  }

  #join(events: readonly DeliveredEvent[]): string {
    const { undo } = this.#page;
    const first = undo === null ? "" : formatMessage("undo", undo.cursor, undo);
    return first + events.map((each) => this.#textOf(each)).join("");
  }

  #textOf(delivered: DeliveredEvent): string {
    const known = this.#texts.get(delivered);
    if (known !== undefined) return known;
    const text = formatMessage(null, delivered.record.cursor, delivered.record);
    this.#texts.set(delivered, text);
    return text;
  }
}

/** The page as one JSON body. */
export function formatPage({ undo, events, progress, hasMore }: EventsPage): unknown {
  return { undo, events: events.map(({ record }) => record), progress, has_more: hasMore };
}

/** The page as lines of JSON, each with one key that says what it is; the last one is the progress. */
export function formatLines({ undo, events, progress, hasMore }: EventsPage): string {
  const lines = [
    ...(undo === null ? [] : [{ undo }]),
    ...events.map(({ record }) => ({ event: record })),
    { progress: { ...progress, has_more: hasMore } },
  ];
  return lines.map((line) => `${stringifyVisibly(line)}\n`).join("");
}
