// The request and the result of a reader of events: a page of records, or an undo, and where the next page begins.
import type { Hex } from "../../lib/hex.ts";
import type { EventFilter, EventSubject, FilteredEvent } from "../../protocol/event-filter.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import type { Sentence } from "../../schema/sentence.ts";
import { END_OF_BLOCK, type Finality } from "../../store/index/event-logs.ts";
import { type EventCursor, type EventOrder, formatCursor } from "./cursor.ts";
import type { RowChangeRecord } from "./row-records.ts";

/** The begin: a cursor as text, before the first event of a block, or at an end of the chain. */
export type EventStart =
  | { readonly cursor: string }
  | { readonly block: number }
  | { readonly end: "genesis" | "head" };

export type EventsRequest = {
  readonly from: EventStart | EventCursor;
  /** Newest first if `desc`; absent for the order of the chain. */
  readonly order?: EventOrder;
  readonly filter: EventFilter;
  readonly finality: Finality;
  /** Most events; fewer if their bytes or the logs that were read exceed a limit. */
  readonly limit: number;
  /**
   * The client that reads history, so that readers share it fairly; null reads at the head, which all readers share.
   */
  readonly client: string | null;
  /** Also reads what links events to such things, for filters that are applied later. */
  readonly linkedSubjects?: readonly EventSubject[];
  /** Also reads the rows that each event has changed. */
  readonly rows?: boolean;
  /** Also returns each sentence in parts, for which it reads the tokens of intents. */
  readonly parts?: boolean;
};

/** An event as clients get it. */
export type EventRecord = {
  /** The same for the same event on the same branch, however often it is delivered. */
  readonly id: string;
  readonly type: string;
  readonly contract: string;
  readonly address: Hex;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
  readonly tx_hash: Hex;
  readonly log_index: number;
  readonly block_number: string;
  readonly block_hash: Hex;
  readonly block_timestamp: string;
  readonly cursor: string;
  /** Absent unless asked for; null if the block is too large. */
  readonly rows?: readonly RowChangeRecord[] | null;
  /** Absent unless requested. */
  readonly parts?: Sentence;
};

/** Everything after this block is undone. The hash is null if the block is final and empty. */
export type UndoRecord = {
  readonly block_number: string;
  readonly block_hash: Hex | null;
  readonly cursor: string;
};

/** How far a reader is. */
type ProgressRecord = {
  /** The last block of which every event has been delivered; backwards the first one. */
  readonly block_number: string;
  readonly indexed_block: string;
  readonly finalized_block: string;
  readonly cursor: string;
  /** Backwards only: the cursor to read on forwards, after the newest event that was read. */
  readonly forward_cursor?: string;
};

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
