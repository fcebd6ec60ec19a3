// What a reader of events asks for and gets: a page of records, or an undo, and where the next page begins.
import type { Hex } from "../../lib/hex.ts";
import type { EventFilter, EventSubject, FilteredEvent } from "../../protocol/event-filter.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { END_OF_BLOCK, type Finality } from "../../store/index/event-logs.ts";
import type { EventCursor } from "./cursor.ts";
import type { RowChangeRecord } from "./row-records.ts";

/** Where to begin: a cursor as text, before the first event of a block, or at an end of the chain. */
export type EventStart =
  | { readonly cursor: string }
  | { readonly block: number }
  | { readonly end: "genesis" | "head" };

export type EventsRequest = {
  readonly from: EventStart | EventCursor;
  readonly filter: EventFilter;
  readonly finality: Finality;
  /** Events at most; fewer where their bytes or the logs looked through reach a limit. */
  readonly limit: number;
  /** Who reads history, so that readers share it fairly; null reads at the head, where everyone waits. */
  readonly client: string | null;
  /** Also reads what links events to such things, for filters that are applied later. */
  readonly linkedSubjects?: readonly EventSubject[];
  /** Also reads the rows that each event has changed. */
  readonly rows?: boolean;
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
  /** Absent unless asked for; null where the block is too large. */
  readonly rows?: readonly RowChangeRecord[] | null;
};

/** Everything after this block is undone. The hash is null where the block is final and empty. */
export type UndoRecord = {
  readonly block_number: string;
  readonly block_hash: Hex | null;
  readonly cursor: string;
};

/** How far a reader is. */
type ProgressRecord = {
  /** The last block of which every event has been delivered. */
  readonly block_number: string;
  readonly indexed_block: string;
  readonly finalized_block: string;
  readonly cursor: string;
};

/** The record, and the same event as filters see it. */
export type DeliveredEvent = { readonly event: FilteredEvent; readonly record: EventRecord };

export type EventsPage = {
  /** The reader was on a branch that is gone: it undoes what came after this block, then goes on from the cursor. */
  readonly undo: UndoRecord | null;
  readonly events: readonly DeliveredEvent[];
  readonly progress: ProgressRecord;
  /** Where the next page begins. */
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

export function describeProgress(
  { block, logIndex }: EventCursor,
  head: IndexHead,
  cursor: string,
): ProgressRecord {
  return {
    block_number: String(logIndex === END_OF_BLOCK ? block : block - 1),
    indexed_block: head.number.toString(),
    finalized_block: head.finalized.toString(),
    cursor,
  };
}
