// Parts of statements over rollups: several rows in one cell of the result, and the largest rows at any block.

import type { AsOf, AtBlock } from "../../schema/reads/read.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";

// Every cell is a number, an address or a hash, or text that `packText` has encoded, so neither separator is ever part of
// one. Building JSON in the database took twice as long.
const CELL_END = ",";
const ROW_END = ";";

/** The rows of a `from` item as one text, by expressions over its aliases; null without rows. */
export function packRows(expressions: readonly string[], from: SqlText, order: string): SqlText {
  // concat_ws skips nulls, which would shift the columns.
  const cells = expressions.map((expression) => `coalesce((${expression})::text, '')`);
  return sql`(select string_agg(concat_ws('${rawSql(CELL_END)}', ${rawSql(cells.join(", "))}), '${rawSql(ROW_END)}' order by ${rawSql(order)}) ${from})`;
}

/** The cells of each row; an empty one is null. */
export function unpackRows(packed: unknown): (string | null)[][] {
  if (typeof packed !== "string") return [];
  return packed.split(ROW_END).map((row) => row.split(CELL_END).map((cell) => (cell === "" ? null : cell)));
}

/** The rows as records, if no cell is empty; `names` has the names of the cells in their order. */
export function unpackRecords<const Name extends string>(
  packed: unknown,
  names: readonly Name[],
): readonly Readonly<Record<Name, string>>[] {
  return unpackRows(packed).map(
    (cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]])) as Record<Name, string>,
  );
}

// Distinguishes empty text from none.
const TEXT_BEGIN = "=";

/** A cell of text that others chose, which may have our separators. */
export function packText(expression: string): string {
  return `'${TEXT_BEGIN}' || encode(convert_to(${expression}, 'UTF8'), 'hex')`;
}

export function unpackText(cell: string): string {
  return Buffer.from(cell.slice(TEXT_BEGIN.length), "hex").toString("utf8");
}

export type Ranked = {
  readonly table: string;
  readonly key: readonly string[];
  /** The column to rank by; equals come by key, the highest first. */
  readonly by: string;
  readonly limit: number;
  /** The condition of the rows, by unqualified columns that an index begins with. */
  readonly where?: SqlText;
};

/**
 * Indexes are over the current rows; at an earlier block the largest are either among the largest current ones that are
 * older than it, or have changed since, which few have.
 */
export function selectLargest(ranked: Ranked, asOf: AsOf): SqlText {
  if (asOf === null) return selectUnchanged(ranked, asOf);
  const both = sql`(${selectUnchanged(ranked, asOf)}) union all (${selectChanged(ranked, asOf)})`;
  return sql`select * from (${both}) held ${orderRows(ranked)}`;
}

/** The largest current rows that are as old as the block. */
export function selectUnchanged(ranked: Ranked, asOf: AsOf): SqlText {
  const old = asOf === null ? sql`` : sql` and valid_from <= ${asOf.block.toString()}`;
  return sql`select * from ${rawSql(ranked.table)} where valid_to is null${old} and ${ranked.where ?? sql`true`} ${orderRows(ranked)}`;
}

/** The rows that have changed since the block, as they were. */
export function selectChanged({ table, key, where }: Ranked, { block: at }: AtBlock): SqlText {
  const block = at.toString();
  const keys = (alias: string) => rawSql(key.map((name) => `${alias}.${name}`).join(", "));
  return sql`select o.* from ${rawSql(table)} o where (${keys("o")}) in (select ${keys("n")} from ${rawSql(table)} n where n.valid_from > ${block})
    and o.valid_from <= ${block} and o.valid_to > ${block} and ${where ?? sql`true`}`;
}

export function orderRows({ by, key, limit }: Ranked): SqlText {
  const order = [by, ...key].map((column) => `${column} desc`).join(", ");
  return sql`order by ${rawSql(order)} limit ${rawSql(String(limit))}`;
}
