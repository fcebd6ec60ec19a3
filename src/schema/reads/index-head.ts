// The head of the index as answers need it: how to run a read, what to tell of the head, and which blocks can be read.
import { Fault } from "../../lib/fault.ts";
import type { SqlText } from "../sql.ts";
import type { AsOf, ReadCost } from "./read.ts";
import type { ResultRows } from "./result-rows.ts";

export type IndexHead = {
  readonly number: bigint;
  readonly hash: string;
  readonly finalized: bigint;
  /** First block of the deployment: before it there is nothing to read. */
  readonly start: bigint;
};

/** A statement to run; `client` is who requested it, which slow ones are shared out by. */
export type ReadStatement = { readonly sql: SqlText; readonly cost: ReadCost; readonly client?: string };

/** What `use` makes of a statement's rows and of the head, both of one snapshot; a door plugs in the store. */
export type RunRead = <T>(
  statement: ReadStatement,
  use: (head: IndexHead, answered: ResultRows) => T,
) => Promise<T>;

/** The largest block number PostgreSQL and the tables can hold. */
export const BLOCK_MAX = 2n ** 63n - 1n;

/** Which block an answer is true for, and on which fork. */
export function formatHeadHeaders(head: IndexHead): Readonly<Record<string, string>> {
  return { "x-indexed-block": head.number.toString(), "x-indexed-block-hash": head.hash };
}

/** Refuses a block that is not indexed; `recent` is for rows that remember only back to the finalized block. */
export function assertBlockReadable(asOf: AsOf, head: IndexHead, options: { recent: boolean }): void {
  if (asOf === null) return;
  const sentence =
    asOf > head.number
      ? `block ${asOf} is not indexed yet; the index is at ${head.number}.`
      : asOf < head.start
        ? `block ${asOf} is before the deployment, which begins at ${head.start}.`
        : options.recent && asOf < head.finalized
          ? `This answer is kept only from block ${head.finalized} on.`
          : null;
  if (sentence !== null) throw new Fault("INPUT_INVALID", sentence);
}
