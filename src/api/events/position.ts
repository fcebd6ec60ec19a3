// Resolves the position of a reader: what to read from there, and whether it is still part of the chain.
import { Fault } from "../../lib/fault.ts";
import { topicsOf } from "../../protocol/event-filter.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { END_OF_BLOCK, type EventLogs, type EventLogsQuery } from "../../store/index/event-logs.ts";
import {
  CURSOR_BLOCK_MAX,
  type DeploymentId,
  type EventCursor,
  parseCursor,
  rejectForeignCursor,
} from "./cursor.ts";
import type { EventStart, EventsRequest } from "./event-page.ts";

// Logs that one statement looks through: some 10 ms of the database at most. A rare filter needs several pages.
const LOGS_MAX = 1_000;

export type EventPosition = EventCursor | Exclude<EventStart, { readonly cursor: string }>;

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
