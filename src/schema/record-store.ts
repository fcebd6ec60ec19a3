// What a room that takes writes needs of a database: statements, and changes that happen whole or not at all.
import type { SqlText } from "./sql.ts";

export type Rows = {
  run<R extends object = Readonly<Record<string, unknown>>>(statement: SqlText): Promise<readonly R[]>;
};

/** The tables people write that responses are made from which may be cached. */
export type WrittenTable =
  | "attestation_schemas"
  | "intent_metadata"
  | "intent_reservations"
  | "offchain_bids";

export type Change = {
  /** Who sent it: what it stores counts for this client. */
  readonly client: string;
  /** Which of the tables it changes: cached responses made from them are dropped, all others stay. */
  readonly changes: readonly WrittenTable[];
};

/** Rows inside a change. */
export type ChangingRows = Rows & {
  /** Counts bytes for the client and rejects the change where they are too many; comes before anything is written. */
  charge(bytes: number): Promise<void>;
};

export type RecordStore = Rows & {
  /** Commits what `work` did when it resolves; otherwise nothing remains. Changes run one after another. */
  change<T>(change: Change, work: (rows: ChangingRows) => Promise<T>): Promise<T>;
};

/** What a record counts as: the body it was sent in, and 1 KiB for its keys and index entries. */
export function storedBytes(body: Uint8Array): number {
  return 1_024 + body.length;
}
