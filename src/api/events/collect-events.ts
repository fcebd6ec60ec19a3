// Makes a page of the logs that were read: the events that pass the filter, as many as fit, and where the next page begins.
import type { Hex } from "../../lib/hex.ts";
import type { DecodedEvent } from "../../protocol/decode-logs.ts";
import { type FilteredEvent, matchesFilter } from "../../protocol/event-filter.ts";
import { explainEvent, explainParts } from "../../protocol/explain.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { END_OF_BLOCK, type EventLogs, type PositionedLog } from "../../store/index/event-logs.ts";
import { type DeploymentId, type EventCursor, formatCursor } from "./cursor.ts";
import {
  type DeliveredEvent,
  describeProgress,
  type EventRecord,
  type EventsPage,
  type EventsRequest,
} from "./event-page.ts";
import type { EventRows } from "./event-rows.ts";
import { type EventPosition, isCursor } from "./position.ts";

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
      const record = describeEvent(event, each.log, text, {
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
