// Finds what a webhook has to deliver next: the undo of what is gone, or events from its position on.
import { type EventFilter, matchesFilter } from "../../protocol/event-filter.ts";
import { END_OF_BLOCK, type Finality } from "../../store/index/event-logs.ts";
import type { QueryRunner } from "../../store/postgres/session.ts";
import { parseStart } from "../events/endpoint.ts";
import type {
  DeliveredEvent,
  EventRecord,
  EventsPage,
  ReadEvents,
  UndoRecord,
} from "../events/read-events.ts";
import { selectOwnedEvents } from "./owned-events.ts";
import type { Claim, ReachedEvent, Webhook, WebhookRows } from "./rows.ts";

export type Found =
  | { readonly kind: "undo"; readonly claim: Claim }
  | { readonly kind: "events"; readonly claim: Claim; readonly events: readonly EventRecord[] }
  | {
      readonly kind: "nothing";
      readonly claim: Claim;
      readonly position: string;
      /** Otherwise the search goes on from the position. */
      readonly isCaughtUp: boolean;
    };

type LookOptions = {
  readonly readEvents: ReadEvents;
  readonly database: QueryRunner;
  readonly rows: WebhookRows;
};

/** Pages that all webhooks with the same position share: those that have caught up, which are most. */
export type SharedPages = Map<string, Promise<EventsPage>>;

// Small, so that what waits in memory for a slow receiver is small, and seldom read in vain before a reorg.
const EVENTS_PER_PAGE = 50;
const EVENTS_PER_SHARED_PAGE = 100;
// A rare filter looks through up to this many thousand logs before it stores how far it is.
const PAGES_MAX = 10;
const EVERY_EVENT: EventFilter = { types: null, subjects: {} };

/** Null if the claim is lost. */
export async function findNext(
  first: Claim,
  options: LookOptions,
  shared: SharedPages | null,
): Promise<Found | null> {
  let claim = first;
  let { position } = claim.webhook;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { webhook } = claim;
    if (webhook.undo !== null) return { kind: "undo", claim };
    const page = await readPage({ ...webhook, position }, options.readEvents, shared);
    const events = page.undo ? [] : await selectEvents(webhook, page, options.database);
    if (events === null) continue;
    const undo = page.undo ?? (await findUndoAhead(webhook, events, options.readEvents));
    if (undo !== null) {
      if (page.undo !== null) position = page.undo.cursor;
      const moved = await options.rows.moveTo(claim, planUndo(webhook, undo, position));
      if (moved === null) return null;
      claim = moved;
      continue;
    }
    if (events.length > 0) return { kind: "events", claim, events: events.map(({ record }) => record) };
    position = page.progress.cursor;
    if (!page.hasMore) return { kind: "nothing", claim, position, isCaughtUp: true };
  }
  return { kind: "nothing", claim, position, isCaughtUp: false };
}

async function readPage(
  { id, position, filter, finality }: Webhook,
  readEvents: ReadEvents,
  shared: SharedPages | null,
): Promise<EventsPage> {
  const from = parseStart(position);
  if (shared === null) {
    return await readEvents({ from, filter, finality, limit: EVENTS_PER_PAGE, client: `webhook ${id}` });
  }
  const key = sharedKey(position, finality);
  const known = shared.get(key);
  if (known) return await known;
  const limit = EVENTS_PER_SHARED_PAGE;
  const page = readEvents({ from, filter: EVERY_EVENT, finality, limit, client: null });
  shared.set(key, page);
  return await page;
}

const sharedKey = (position: string, finality: Finality) => `${finality} ${position}`;

/** Those that pass the filter and, for an owner, are the owner's; null if they must be read again. */
async function selectEvents(
  { owner, filter }: Webhook,
  page: EventsPage,
  database: QueryRunner,
): Promise<readonly DeliveredEvent[] | null> {
  const passing = page.events.filter(({ event }) => matchesFilter(event, filter));
  return owner === null ? passing : await selectOwnedEvents(database, owner, passing);
}

/**
 * The receiver may have an event past the position: it was sent, and no response was recorded. If it is not the one that
 * comes next, a reorg may have removed it, which reading from the position does not show.
 */
async function findUndoAhead(
  { isReachedAhead, reached, finality }: Webhook,
  [next]: readonly DeliveredEvent[],
  readEvents: ReadEvents,
): Promise<UndoRecord | null> {
  if (!isReachedAhead || reached === null) return null;
  if (next && next.record.cursor === reached.cursor) return null;
  const from = { cursor: reached.cursor };
  return (await readEvents({ from, filter: EVERY_EVENT, finality, limit: 1, client: null })).undo;
}

/** Undoes nothing that the receiver never got. */
function planUndo({ reached }: Webhook, undo: UndoRecord, position: string) {
  const block = Number(undo.block_number);
  if (reached === null || reached.block <= block) return { position, undo: null, reached };
  return { position, undo, reached: { cursor: undo.cursor, block, logIndex: END_OF_BLOCK } };
}

/** How far the receiver may be once this event is sent. */
export function reachWith({ reached, isReachedAhead }: Webhook, event: EventRecord): ReachedEvent {
  const here = { cursor: event.cursor, block: Number(event.block_number), logIndex: event.log_index };
  return isReachedAhead && reached !== null && isAfter(reached, here) ? reached : here;
}

function isAfter(one: ReachedEvent, other: ReachedEvent): boolean {
  return one.block > other.block || (one.block === other.block && one.logIndex > other.logIndex);
}
