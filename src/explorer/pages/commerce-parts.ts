// Parts that pages of commerce share: the history of a record, its state, the facilitator behind an address.
import { type Html, html } from "../../lib/html.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiRecord } from "../api-call.ts";
import type { ApiReader } from "../api-reader.ts";
import { addressLink, card, notice, number, recordLink, status } from "../components.ts";
import type { Changes, PageContext } from "../context.ts";
import { changesOf, type EventsData, eventSource, eventsUpTo, eventTable } from "../events.ts";
import { type List, type ListData, listCard } from "../list.ts";
import { facilitatorList, withoutColumns } from "./commerce-lists.ts";

export function activeStatus(isActive: boolean): Html {
  return status(isActive ? "ACTIVE" : "INACTIVE");
}

/** The changes around the shown block; without them where not all events are read, and the nearest are not known. */
export function changesWithin(data: EventsData, page: PageContext): { readonly changes?: Changes } {
  return data.isCut ? {} : { changes: changesOf(data.events, page) };
}

/** The block at which reading stopped before the last one: there may be more events, or none. */
export function unreadNotice({ isCut }: EventsData): Html | null {
  return isCut
    ? notice(
        "info",
        "Not looked through to the end: later events may be missing here; the API has all of them.",
      )
    : null;
}

const EVENTS_SHOWN = 8;

/** The history of a record up to the shown block, newest first. */
export function historyCard(data: EventsData, page: PageContext): Html {
  const events = eventsUpTo(data.events, page);
  const shown = events.slice(-EVENTS_SHOWN).toReversed();
  const more =
    !data.isCut && events.length > shown.length
      ? notice(
          "info",
          `These are the newest ${shown.length} of ${events.length} events; the API has all of them.`,
        )
      : unreadNotice(data);
  const rows =
    shown.length === 0
      ? !data.isCut && html`<p class="empty">No event at this block.</p>`
      : eventTable(shown, page);
  return card("History", html`${more}${rows}${eventSource(page, data.call)}`);
}

type RelatedOptions = {
  readonly title: string;
  /** The page with all of them, below /explorer. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Columns that are the same in every row. */
  readonly hidden: readonly string[];
};

/** A list of what belongs to the record of the page, with the way to all of it. */
export function relatedCard(data: ListData, page: PageContext, options: RelatedOptions): Html {
  const { title, path, query, hidden } = options;
  const list: List = { ...withoutColumns(data.list, hidden), empty: "None at this block." };
  const more = data.next === null ? {} : { more: { path, query, label: "All of them" } };
  return listCard(title, { ...data, list }, page, more);
}

/** Newest signals about the record of the page. */
export function signalsCard(
  data: ListData,
  page: PageContext,
  subject: { readonly subject_type: string; readonly subject_id: string },
): Html {
  // Anyone may signal about a number before it exists: the block does not link to this page as of it.
  const columns = data.list.columns.map((column) =>
    column.label === "Block" ? { ...column, cell: (each: ApiRecord) => number(each.block_number) } : column,
  );
  return relatedCard({ ...data, list: { ...data.list, columns } }, page, {
    title: "Newest trust signals",
    path: "/trust-signals",
    query: subject,
    hidden: ["About"],
  });
}

/** As many rows of a related list as a page shows. */
export const RELATED_ROWS = "6";

/** The registered facilitator with this address, by its number; null for none. */
export async function findFacilitatorId(api: ApiReader, facilitator: string): Promise<string | null> {
  if (facilitator === ZERO_ADDRESS) return null;
  const { records } = await api.list(facilitatorList, { query: { facilitator, limit: "1" } });
  const [found] = records;
  return found === undefined ? null : String(found.facilitator_id);
}

/** A facilitator by its number and its address. */
export function facilitatorFact(page: PageContext, facilitator: string, id: string | null): Html {
  return id === null
    ? addressLink(page, facilitator)
    : html`${recordLink(page, "facilitator", id)} ${addressLink(page, facilitator)}`;
}
