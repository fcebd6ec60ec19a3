// What a read of the index is: a path, its parameters, one statement, and the answer made of its rows.
import { Fault } from "../../lib/fault.ts";
import type { JsonSchema } from "../column.ts";
import type { Parameter } from "../parameter.ts";
import type { WritableTable } from "../record-store.ts";
import type { SqlText } from "../sql.ts";
import type { ResultRows } from "./result-rows.ts";

// The head of the index as answers need it: how to run a read, what to tell of the head, and which blocks can be read.

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

/** The block a read looks at; null is the newest indexed one. */
export type AsOf = bigint | null;

export type ReadInput = {
  /** Parsed parameters by name; those not given are absent. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly asOf: AsOf;
  readonly provenance: boolean;
};

/**
 * What a statement costs the database. `quick` looks at hardly more rows than it returns, however large the tables are:
 * tests/api/read-costs.test.ts holds every quick plan to that. `slow` is everything else; it runs on connections of its
 * own, so that no quick read waits behind it.
 */
export type ReadCost = "quick" | "slow";

export type ReadPlan = {
  readonly sql: SqlText;
  readonly cost: ReadCost;
  /** The body; null means there is nothing of that name. */
  readonly assemble: (answered: ResultRows) => unknown;
  /** The same with as many records as fit into so many bytes, but at least one; not there where nothing can be left out. */
  readonly assembleWithin?: (answered: ResultRows, bytesMax: number) => unknown;
};

export type Read = {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** Whether every record comes from a log of the chain, so that `include` has a meaning. */
  readonly provenance: boolean;
  /** Whether its rows belong to no block: it has no parameter `block`, and ignores one like any unknown key. */
  readonly unversioned?: boolean;
  /** Whether it reads rollups that remember only back to the finalized block. */
  readonly recentOnly?: boolean;
  /** The tables people write that it reads beside those of the index: a change of one makes its responses old. */
  readonly writableTables?: readonly WritableTable[];
  readonly responseSchema: JsonSchema;
  /** The sentence of a 404; null where the answer always exists. */
  readonly notFoundMessage: string | null;
  readonly plan: (input: ReadInput) => ReadPlan;
};
