// What a room that takes writes needs of a database: statements, and changes that happen whole or not at all.
import type { SqlText } from "./statement.ts";

export type Rows = {
  run<R extends object = Readonly<Record<string, unknown>>>(statement: SqlText): Promise<readonly R[]>;
};

export type RecordStore = Rows & {
  /** Commits what `work` did when it resolves, and tells everyone who keeps answers; otherwise nothing remains. */
  change<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
};
