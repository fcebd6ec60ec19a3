// Finds what a webhook has to deliver next: the undo of what is gone, or events from its position on.
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import { type EventSubject, matchesFilter, subjectsOf } from "../../protocol/event-filter.ts";
import type { EventRecord, UndoRecord } from "../../protocol/event-page.ts";
import { END_OF_BLOCK } from "../../store/index/event-logs.ts";
import { parseStart } from "../events/endpoint.ts";
import { type DeliveredEvent, EVERY_EVENT, type EventStart, type EventsPage } from "../events/event-page.ts";
import type { ReadEvents } from "../events/read-events.ts";
import { blockOfPosition, type Claim, type ReachedEvent, type Webhook, type WebhookRows } from "./rows.ts";

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
  readonly rows: WebhookRows;
  /** Turns of those that read by themselves. */
  readonly history: ConcurrencyLimit;
};

/** Pages that all webhooks with the same position share: those that have caught up, which are most. */
type SharedPages = {
  readonly pages: Map<string, Promise<EventsPage>>;
  /** The subjects of the pages' events: everything that a filter names. */
  readonly linkedSubjects: readonly EventSubject[];
};

// Small, so that what waits in memory for a slow receiver is small, and seldom read in vain before a reorg.
const EVENTS_PER_PAGE = 50;
const EVENTS_PER_SHARED_PAGE = 100;
// A rare filter looks through up to this many thousand logs before it stores how far it is.
const PAGES_MAX = 10;

export function sharePages(claims: readonly Claim[]): SharedPages {
  const subjects = claims.flatMap(({ webhook }) => subjectsOf(webhook.filter));
  return { pages: new Map(), linkedSubjects: [...new Set(subjects)] };
}

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
    const page = await readPage({ ...webhook, position }, options, shared);
    if (page === null) return { kind: "nothing", claim, position, isCaughtUp: true };
    const events = page.events.filter(({ event }) => matchesFilter(event, webhook.filter));
    const undo = page.undo ?? (await findUndoAhead(webhook, events, options.readEvents));
    if (undo !== null) {
      if (page.undo !== null || isBefore(undo, position)) position = undo.cursor;
      const moved = await options.rows.moveTo(claim, planUndo(webhook, undo, position));
      if (moved === null) return null;
      claim = moved;
      continue;
    }
    if (events.length > 0) return { kind: "events", claim, events: events.map(({ record }) => record) };
    position = page.progress.cursor;
    if (!page.hasMore) return { kind: "nothing", claim, position, isCaughtUp: true };
    // If turns are long, the lease would end before the pages do, and the work would be lost.
    if (performance.now() > claim.sendUntilMs) break;
  }
  return { kind: "nothing", claim, position, isCaughtUp: false };
}

/** Null before the block with which it begins is there: a rollback may have taken it away, or the index is behind. */
async function readPage(
  { position, filter, finality }: Webhook,
  { readEvents, history }: LookOptions,
  shared: SharedPages | null,
): Promise<EventsPage | null> {
  const from = parseStart(position);
  const isShared =
    shared !== null && subjectsOf(filter).every((each) => shared.linkedSubjects.includes(each));
  if (!isShared) {
    const request = { from, filter, finality, limit: EVENTS_PER_PAGE, client: "webhooks" };
    return await nullBefore(
      from,
      history.run(() => readEvents(request)),
    );
  }
  const key = `${finality} ${position}`;
  const { pages, linkedSubjects } = shared;
  const limit = EVENTS_PER_SHARED_PAGE;
  const page =
    pages.get(key) ??
    readEvents({ from, filter: EVERY_EVENT, finality, limit, client: null, linkedSubjects });
  pages.set(key, page);
  return await nullBefore(from, page);
}

async function nullBefore(from: EventStart, page: Promise<EventsPage>): Promise<EventsPage | null> {
  try {
    return await page;
  } catch (error) {
    if ("block" in from && error instanceof Fault && error.code === "INPUT_INVALID") return null;
    throw error;
  }
}

/** Whether an undo goes further back than the webhook is, so that something comes again. */
function isBefore({ block_number }: UndoRecord, position: string): boolean {
  const block = blockOfPosition(position);
  return block !== null && Number(block_number) < block;
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
