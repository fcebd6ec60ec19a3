// Reads of the index for responses: one statement, one snapshot, the head it was taken at, and slow ones apart from quick.
import { createHash } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { IndexHead, RunRead } from "../../schema/reads/read.ts";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import type { PipelinedReader } from "../fast/pipelined-reader.ts";
import { sqlState } from "../postgres/errors.ts";
import type { PreparedStatement, StatementValue } from "../postgres/session.ts";
import type { SlowReader } from "./slow-reader.ts";

export type IndexReader = { readonly read: RunRead };

export type StatementReaders = {
  readonly quick: Pick<PipelinedReader, "read">;
  readonly slow: Pick<SlowReader, "read">;
};

export function openIndexReader({ quick, slow }: StatementReaders): IndexReader {
  const known = new Map<string, Prepared>();

  function runSlowly<T>(statement: PreparedStatement, client: string, use: Use<T>): Promise<T> {
    return slow.read(statement, (cells) => useBelowHead(cells, use), client);
  }

  // A statement that is declared quick and is not, say because the planner chose badly, has another chance where it holds
  // up no one.
  function runQuickly<T>(statement: PreparedStatement, client: string, use: Use<T>): Promise<T> {
    return quick
      .read(statement, (cells) => useBelowHead(cells, use))
      .catch((error: unknown) => {
        if (sqlState(error) !== STATEMENT_TIMED_OUT) throw error;
        return runSlowly(statement, client, use);
      });
  }

  return {
    read({ sql: { text, values }, cost, client = "" }, use) {
      const { name, text: whole } = preparedOf(text, known);
      const statement = { name, text: whole, values: values as readonly StatementValue[] };
      const run = cost === "quick" ? runQuickly : runSlowly;
      return run(statement, client, use).catch((error: unknown) => {
        throw explainedAbsence(error);
      });
    },
  };
}

type Use<T> = (head: IndexHead, answered: ResultRows) => T;

const STATEMENT_TIMED_OUT = "57014";

function useBelowHead<T>({ columns, rows }: ResultRows, use: Use<T>): T {
  const [first] = rows;
  if (!first) throw new Fault("INDEX_EMPTY", "Nothing is indexed yet; try again when /ready answers 200.");
  const [number, hash, finalized, start, found] = first as HeadCells;
  const head = {
    number: BigInt(number),
    hash: `0x${hash}` as const,
    finalized: BigInt(finalized),
    start: BigInt(start),
  };
  return use(head, { columns, rows: found ? rows : [] });
}

// In the order in which the statement names them, before those of the rows.
type HeadCells = [number: string, hash: string, finalized: string, start: string, found: boolean | null];

// Tables and columns are made by the indexer: before its first start, or before it has followed a new version of ours,
// they are not there.
const ABSENT: ReadonlySet<string | undefined> = new Set(["42P01", "42703"]);

function explainedAbsence(error: unknown): unknown {
  if (!ABSENT.has(sqlState(error))) return error;
  const sentence = "The rows of this version are not made yet; try again when /ready answers 200.";
  return new Fault("INDEX_EMPTY", sentence, { cause: error });
}

type Prepared = { readonly name: string; readonly text: string };

// Texts come from our own declarations, a few hundred of them; a bound all the same.
const KNOWN_MAX = 10_000;

/** PostgreSQL keeps a prepared statement per name; the same text always has the same one. */
function preparedOf(inner: string, known: Map<string, Prepared>): Prepared {
  const before = known.get(inner);
  if (before) return before;
  if (known.size >= KNOWN_MAX) known.clear();
  const text = buildReadText(inner);
  const made = { name: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
  known.set(inner, made);
  return made;
}

/** The statement that a read runs: its rows and the head, joined so that both come from one snapshot. */
export function buildReadText(inner: string): string {
  return `select h.block_number as _head, encode(h.block_hash, 'hex') as _hash, h.finalized_block as _finalized, d.start_block as _start, r.* from checkpoint h cross join deployment d left join lateral (select true as _found, s.* from (${inner}) s) r on true`;
}
