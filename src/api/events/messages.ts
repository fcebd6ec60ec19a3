// Events as text: messages of Server-Sent Events, and lines of JSON.
import type { Fault } from "../../lib/fault.ts";
import { publicMessage } from "../../lib/fault.ts";
import { stringifyVisibly } from "../../lib/foreign-text.ts";
import { type EventFilter, isOpen, matchesFilter } from "../../protocol/event-filter.ts";
import type { DeliveredEvent, EventsPage } from "./event-page.ts";

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
