// The database as modules with writes use it: statements, and atomic changes.
import type { SqlText } from "./sql.ts";

export type StatementRunner = {
  run<R extends object = Readonly<Record<string, unknown>>>(statement: SqlText): Promise<readonly R[]>;
};

/** The client-written tables that other processes want to know about: cached responses depend on them, or deliveries. */
export type WritableTable =
  | "attestation_schemas"
  | "documents"
  | "intent_metadata"
  | "intent_reservations"
  | "offchain_bids"
  | "webhooks";

export type WriteScope = {
  /** The client that the stored bytes count for. */
  readonly client: string;
  /** The tables that it changes: cached responses that depend on them are dropped, all others stay. */
  readonly tables: readonly WritableTable[];
};

/** Statements inside a change. */
export type WriteTransaction = StatementRunner & {
  /**
   * Counts bytes for the client, and rejects the change if they are too many; call it before writing. When all other
   * storage is full, `mayUseReserve` decides.
   */
  charge(bytes: number, mayUseReserve?: () => Promise<boolean>): Promise<void>;
};

export type RecordStore = StatementRunner & {
  /** Commits the work if it resolves, otherwise rolls it back. Changes run one after another. */
  write<T>(change: WriteScope, work: (rows: WriteTransaction) => Promise<T>): Promise<T>;
};

/** The bytes of a record that count towards limits: its body, and 1 KiB for keys and index entries. */
export function countStoredBytes(body: Uint8Array): number {
  return 1_024 + body.length;
}
