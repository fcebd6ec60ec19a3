// Reads of the index for answers: one statement, one snapshot, and the head it was taken at.
import { createHash } from "node:crypto";
import { Fault } from "../kit/fault.ts";
import type { Hex } from "../kit/hex.ts";
import type { SqlText, SqlValue } from "../schema/statement.ts";
import { sqlState } from "./database-fault.ts";
import type { Reader } from "./reader.ts";
import type { Value } from "./session.ts";

export type IndexHead = {
  readonly number: bigint;
  readonly hash: Hex;
  readonly finalized: bigint;
  /** First block of the deployment: before it there is nothing to read. */
  readonly start: bigint;
};

export type IndexRows = {
  readonly head: IndexHead;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
};

export type IndexReader = { read(statement: SqlText): Promise<IndexRows> };

type Found = Record<string, unknown> & {
  _head: string;
  _hash: string;
  _finalized: string;
  _start: string;
  _found: boolean | null;
};

export function openIndexReader(reader: Reader): IndexReader {
  const known = new Map<string, Prepared>();
  return {
    async read({ text, values }) {
      const statement = { ...preparedOf(text, known), values: values.map(toValue) };
      const found = await reader.read<Found>(statement).catch(explainAbsence);
      const [first] = found;
      if (!first)
        throw new Fault("INDEX_EMPTY", "Nothing is indexed yet; try again when /ready answers 200.");
      const head = {
        number: BigInt(first._head),
        hash: `0x${first._hash}` as const,
        finalized: BigInt(first._finalized),
        start: BigInt(first._start),
      };
      return { head, rows: first._found ? withoutHead(found) : [] };
    },
  };
}

// Tables and columns are made by the indexer: before its first start, or before it has followed a new version of ours,
// they are not there.
const ABSENT: ReadonlySet<string | undefined> = new Set(["42P01", "42703"]);

function explainAbsence(error: unknown): never {
  if (!ABSENT.has(sqlState(error))) throw error;
  const sentence = "The rows of this version are not made yet; try again when /ready answers 200.";
  throw new Fault("INDEX_EMPTY", sentence, { cause: error });
}

const HEAD_COLUMNS: ReadonlySet<string> = new Set(["_head", "_hash", "_finalized", "_start", "_found"]);

/** All rows have the same columns, so which ones to keep is asked once and not for each. */
function withoutHead(found: readonly Found[]): Record<string, unknown>[] {
  const names = Object.keys(found[0] ?? {}).filter((name) => !HEAD_COLUMNS.has(name));
  return found.map((each) => {
    const row: Record<string, unknown> = {};
    for (const name of names) row[name] = each[name];
    return row;
  });
}

type Prepared = { readonly name: string; readonly text: string };

// Texts come from our own declarations, a few hundred of them; a bound all the same.
const KNOWN_MAX = 10_000;

/** PostgreSQL keeps a prepared statement per name; the same text always has the same one. */
function preparedOf(inner: string, known: Map<string, Prepared>): Prepared {
  const before = known.get(inner);
  if (before) return before;
  if (known.size >= KNOWN_MAX) known.clear();
  // The checkpoint is joined, not read beside: rows and head come from the same snapshot.
  const text = `select h.block_number as _head, encode(h.block_hash, 'hex') as _hash, h.finalized_block as _finalized, d.start_block as _start, r.* from checkpoint h cross join deployment d left join lateral (select true as _found, s.* from (${inner}) s) r on true`;
  const made = { name: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
  known.set(inner, made);
  return made;
}

function toValue(value: SqlValue): Value {
  return value as Value;
}
