// Makes a page of events: resolves the position of a reader, and collects the events that pass the filter, as many as fit.

import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { type DecodedEvent, explainEvent, explainParts } from "../../protocol/decode-logs.ts";
import { type FilteredEvent, matchesFilter, topicsOf } from "../../protocol/event-filter.ts";
import type { EventRecord } from "../../protocol/event-page.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import {
  END_OF_BLOCK,
  type EventLogs,
  type EventLogsQuery,
  type PositionedLog,
} from "../../store/index/event-logs.ts";
import {
  CURSOR_BLOCK_MAX,
  type DeliveredEvent,
  type DeploymentId,
  describeProgress,
  type EventCursor,
  type EventStart,
  type EventsPage,
  type EventsRequest,
  formatCursor,
  parseCursor,
  rejectForeignCursor,
} from "./event-page.ts";
import type { EventRows } from "./event-rows.ts";

/**
 * A log with its event; null if the log is not an event of the protocol, or has a type that the filter does not want.
 */
export type LoggedEvent = PositionedLog & { readonly event: (DecodedEvent & FilteredEvent) | null };

type Collected = {
  readonly cursor: EventPosition;
  readonly found: EventLogs;
  readonly events: readonly LoggedEvent[];
  /** Null if the request is for none. */
  readonly rows: EventRows | null;
  readonly head: IndexHead;
  readonly request: EventsRequest;
};

export function collectEvents(collected: Collected, deployment: DeploymentId): EventsPage {
  const { cursor, found, head, rows, request } = collected;
  const { filter, limit } = request;
  const cursorAt = createCursors(collected, deployment);
  const events: DeliveredEvent[] = [];
  let bytes = 0;
  let last: PositionedLog | null = null;
  let isCut = false;
  for (const each of collected.events) {
    isCut = events.length >= limit;
    if (isCut) break;
    const { event } = each;
    if (each.log && event && matchesFilter(event, filter)) {
      const changed = rows?.rowsOf(each.log);
      // Its block is for the next page: folding it as well would take too long.
      isCut = rows !== null && changed === undefined;
      if (isCut) break;
      const text = formatCursor(cursorAt(each));
      // A filter may have linked rows as well: the description of an event does not depend on it.
      const explained = request.parts === true ? event : { ...event, linked: undefined };
      const record = describeEvent(explained, each.log, text, {
        ...(changed === undefined ? {} : { rows: changed }),
        ...(request.parts === true && { parts: explainParts(event) }),
      });
      bytes += Buffer.byteLength(JSON.stringify(record));
      // At least one, so that every page advances.
      isCut = bytes > PAGE_BYTES_MAX && events.length > 0;
      if (isCut) break;
      events.push({ event: { ...event, args: record.args }, record });
    }
    last = each;
  }
  const hasMore = isCut || found.hasMore;
  const isAhead = request.order !== "desc" && isCursor(cursor) && cursor.block > found.upTo.number;
  const next = cursorAt(hasMore ? last : null);
  return {
    undo: null,
    events,
    progress: describeProgress(next, head),
    cursor: next,
    hasMore,
    isAhead,
    head,
    timestamp: found.upTo.timestamp,
  };
}

/** The cursor after a log, or at the end of everything that may be read. Backwards every one has the same newest block. */
function createCursors(collected: Collected, deployment: DeploymentId) {
  const { cursor, head, request } = collected;
  const finalized = Number(head.finalized);
  if (request.order !== "desc") {
    return (log: PositionedLog | null): EventCursor => {
      if (log === null) return endCursor(collected, deployment);
      const { block, hash, logIndex } = log;
      return { deployment, block, hash, logIndex, finalized, lastLogBlock: null };
    };
  }
  const newest = isCursor(cursor) ? cursor : endCursor(collected, deployment);
  return (log: PositionedLog | null): EventCursor => {
    const { block, logIndex } = log ?? { block: 0, logIndex: 0 };
    return { ...newest, before: { block, logIndex } };
  };
}

/** Behind everything that may be read; a reader who is further already stays there. */
function endCursor(
  { cursor: position, found: { upTo, upToLastLogBlock }, head }: Collected,
  deployment: DeploymentId,
): EventCursor {
  if (isCursor(position) && position.block > upTo.number) return position;
  const finalized = Number(head.finalized);
  const isHead = upTo.number === Number(head.number);
  return {
    deployment,
    block: upTo.number,
    hash: isHead ? (head.hash as Hex) : upTo.hash,
    logIndex: END_OF_BLOCK,
    finalized,
    lastLogBlock: upToLastLogBlock && upToLastLogBlock.number > finalized ? upToLastLogBlock : null,
  };
}

function describeEvent(
  event: DecodedEvent,
  log: ChainLog,
  cursor: string,
  included: Pick<EventRecord, "rows" | "parts">,
): EventRecord {
  const { eventName, args, description } = explainEvent(event);
  return {
    id: `${log.blockHash}-${log.logIndex}`,
    type: eventName,
    contract: event.contract,
    address: event.address,
    args,
    description,
    tx_hash: log.transactionHash,
    log_index: log.logIndex,
    block_number: String(log.blockNumber),
    block_hash: log.blockHash,
    block_timestamp: String(log.blockTimestamp),
    cursor,
    ...included,
  };
}

// Logs that one statement looks through: some 10 ms of the database at most. A rare filter needs several pages.
const LOGS_MAX = 1_000;

type EventPosition = EventCursor | Exclude<EventStart, { readonly cursor: string }>;

export function isCursor(position: EventPosition): position is EventCursor {
  return "finalized" in position;
}

export function toPosition({ from, order = "asc" }: EventsRequest, indexed: DeploymentId): EventPosition {
  if ("cursor" in from) return parseCursor(from.cursor, indexed, order);
  if (isCursor(from)) rejectForeignCursor(from.deployment, indexed);
  return from;
}

export function buildQuery(
  position: EventPosition,
  { filter, finality, limit, order }: EventsRequest,
): EventLogsQuery {
  const topics0 = topicsOf(filter);
  const common = { finality, topics0, logsMax: topics0 === null ? Math.min(limit, LOGS_MAX) : LOGS_MAX };
  if (isCursor(position)) {
    const { block, logIndex, finalized, lastLogBlock, before = null } = position;
    const hash = block <= finalized ? null : position.hash;
    const lastLog = lastLogBlock?.number ?? null;
    return {
      ...common,
      // Backwards the finality of the first page counts: what it allowed is below the position, whatever is safe now.
      finality: before === null ? finality : "instant",
      position: { block, hash, logIndex },
      before,
      lastLogBlock: lastLog,
      quietSince: lastLog ?? finalized,
    };
  }
  const first = "block" in position ? position.block : position.end === "genesis" ? 0 : CURSOR_BLOCK_MAX;
  const block = order === "desc" || first === CURSOR_BLOCK_MAX ? first : first - 1;
  const start = { block, logIndex: END_OF_BLOCK };
  const before = order === "desc" ? start : null;
  return { ...common, position: { ...start, hash: null }, before, lastLogBlock: null, quietSince: block };
}

/** A final block is never undone: a reader whose final block was replaced can only get an error. */
export function assertFinalBlockKept(
  { block, hash, finalized }: EventCursor,
  { positionHash }: EventLogs,
): void {
  if (block > finalized || hash === null || positionHash === null || positionHash === hash) return;
  throw new Fault(
    "CURSOR_FOREIGN",
    `Block ${block} was final when the cursor was issued, and is another one now; start with from=genesis, or with a block before the change.`,
  );
}

/** Whether everything up to the cursor is part of the chain that is indexed now. */
export function isOnChain(cursor: EventCursor, found: EventLogs, head: IndexHead): boolean {
  const { block, hash, logIndex, lastLogBlock } = cursor;
  if (hash === null || block <= cursor.finalized) return true;
  if (found.positionHash !== null) return found.positionHash === hash;
  // A replica may be behind the database that the cursor comes from: the reader waits until it has the block. Backwards
  // there is nothing to wait for.
  if (block > Number(head.number)) return !found.isPositionAbandoned && !cursor.before;
  // The block is deleted because it is final and empty, on whatever branch. The reader is on the chain if the last
  // block with logs that it knows of is, and no other has come between.
  if (logIndex !== END_OF_BLOCK) return false;
  return found.isQuiet && (lastLogBlock === null || lastLogBlock.hash === found.lastLogBlockHash);
}

export function assertStartReached(
  position: EventPosition,
  { upTo }: EventLogs,
  { finality, order }: EventsRequest,
): void {
  if (isCursor(position) || !("block" in position)) return;
  // Forwards a reader may begin with the next block, of which there is nothing yet.
  if (position.block <= upTo.number + (order === "desc" ? 0 : 1)) return;
  const state = finality === "instant" ? "indexed" : finality;
  throw new Fault(
    "INPUT_INVALID",
    `Block ${position.block} is not ${state} yet; the last one that is has number ${upTo.number}.`,
  );
}
