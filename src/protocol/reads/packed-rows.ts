// Several rows in one cell of a statement's result, for reads that return more than one list.
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";

// Every cell is a number, an address or a hash, so neither separator is ever part of one. Building JSON in the database
// took twice as long.
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
