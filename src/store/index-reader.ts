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
  const names = new Map<string, string>();
  return {
    async read({ text, values }) {
      // The checkpoint is joined, not read beside: rows and head come from the same snapshot.
      const whole = `select h.block_number as _head, encode(h.block_hash, 'hex') as _hash, h.finalized_block as _finalized, d.start_block as _start, r.* from checkpoint h cross join deployment d left join lateral (select true as _found, s.* from (${text}) s) r on true`;
      const statement = { name: nameOf(whole, names), text: whole, values: values.map(toValue) };
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
      const rows = first._found
        ? found.map(({ _head, _hash, _finalized, _start, _found, ...row }) => row)
        : [];
      return { head, rows };
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

// Texts come from our own declarations, a few hundred of them; a bound all the same.
const NAMES_MAX = 10_000;

/** PostgreSQL keeps a prepared statement per name; the same text always has the same one. */
function nameOf(text: string, names: Map<string, string>): string {
  const known = names.get(text);
  if (known) return known;
  if (names.size >= NAMES_MAX) names.clear();
  const made = createHash("sha256").update(text).digest("hex").slice(0, 32);
  names.set(text, made);
  return made;
}

function toValue(value: SqlValue): Value {
  return value as Value;
}
