// Defines an exported table: its columns with their types in the files, its key, and how its rows are read.
import type { Column } from "../schema/column.ts";
import type { QueryRunner } from "../store/postgres/session.ts";

/**
 * The form of a value in the files. `decimal` is an integer of any size, `hex` bytes with 0x in lower case, `json` and
 * `text` what they say: all four are strings, because no type of Parquet that every reader knows holds 256 bits.
 */
export type ValueType = "boolean" | "int32" | "int64" | "timestamp" | "decimal" | "hex" | "text" | "json";

export type ExportColumn = { readonly name: string; readonly type: ValueType; readonly nullable: boolean };

/** The values of a row in the order of the columns; a timestamp is in milliseconds. */
export type ExportRow = readonly (string | number | bigint | boolean | null)[];

/** Blocks from `from` up to, but not including, `to`. */
export type ExportedRange = { readonly from: number; readonly to: number };

export type ExportTable = {
  readonly name: string;
  readonly key: readonly string[];
  /** Whether rows are versions: each holds from its `valid_from` until the next one with the same key. */
  readonly isVersioned: boolean;
  readonly columns: readonly ExportColumn[];
  /** The rows of a range in a fixed order, page by page. Needs a transaction, whose snapshot all pages share. */
  readPages(session: QueryRunner, range: ExportedRange): AsyncGenerator<readonly ExportRow[], void, void>;
};

const TYPES_BY_SQL: readonly (readonly [prefix: string, type: ValueType])[] = [
  ["boolean", "boolean"],
  ["integer", "int32"],
  ["bigint", "int64"],
  ["numeric", "decimal"],
  ["text", "text"],
];

/** The form of the values of a declared column. */
export function valueTypeOf({ sql, isHex }: Column<unknown>): ValueType {
  if (isHex) return "hex";
  const type = TYPES_BY_SQL.find(([prefix]) => sql.startsWith(prefix))?.[1];
  if (type === undefined) throw new Error(`an export has no type for ${sql}`);
  return type;
}

/** Converts the driver's result to a value of a row. */
export function toValue(type: ValueType, stored: unknown): ExportRow[number] {
  if (stored === null || stored === undefined) return null;
  if (type === "boolean") return stored === true;
  if (type === "int32") return Number(stored);
  if (type === "int64") return BigInt(String(stored));
  return String(stored);
}
