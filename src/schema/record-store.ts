// What a room that takes writes needs of a database: statements, and changes that happen whole or not at all.
import type { SqlText } from "./sql.ts";

export type StatementRunner = {
  run<R extends object = Readonly<Record<string, unknown>>>(statement: SqlText): Promise<readonly R[]>;
};

/** The tables people write that responses are made from which may be cached. */
export type WritableTable =
  | "attestation_schemas"
  | "intent_metadata"
  | "intent_reservations"
  | "offchain_bids";

export type WriteScope = {
  /** Who sent it: what it stores counts for this client. */
  readonly client: string;
  /** Which of the tables it changes: cached responses made from them are dropped, all others stay. */
  readonly tables: readonly WritableTable[];
};

/** Rows inside a change. */
export type WriteTransaction = StatementRunner & {
  /** Counts bytes for the client and rejects the change where they are too many; comes before anything is written. */
  charge(bytes: number): Promise<void>;
};

export type RecordStore = StatementRunner & {
  /** Commits what `work` did when it resolves; otherwise nothing remains. Changes run one after another. */
  write<T>(change: WriteScope, work: (rows: WriteTransaction) => Promise<T>): Promise<T>;
};

/** What a record counts as: the body it was sent in, and 1 KiB for its keys and index entries. */
export function countStoredBytes(body: Uint8Array): number {
  return 1_024 + body.length;
}
