// A list that belongs to one record: where the record is not there, neither is the list.

import { rawSql, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import type { Read } from "./read.ts";
import { isValidAt } from "./record.ts";
import type { ResultRows } from "./result-rows.ts";

export function withOwner(
  owner: { table: Pick<Table, "name">; column: string; parameter: string; notFoundMessage: string },
  read: Read,
): Read {
  const { table, column, parameter, notFoundMessage: missing } = owner;
  return {
    ...read,
    notFoundMessage: missing,
    plan(input) {
      const { sql: rows, cost, assemble, assembleWithin } = read.plan(input);
      const value = input.values[parameter] as SqlValue;
      const found = sql`select 1 from ${rawSql(table.name)} o where o.${rawSql(column)} = ${value} and ${isValidAt("o", input.asOf)}`;
      return {
        cost,
        // One row at least where the owner is there, so that an empty list can be told from none.
        sql: sql`select r.* from (${found}) o left join lateral (select true as _owned, q.* from (${rows}) q) r on true`,
        assemble: (answered) => (answered.rows.length === 0 ? null : assemble(ownedRows(answered))),
        ...(assembleWithin && {
          assembleWithin: (answered, bytesMax) => assembleWithin(ownedRows(answered), bytesMax),
        }),
      };
    },
  };
}

function ownedRows({ columns, rows }: ResultRows): ResultRows {
  const owned = columns.indexOf("_owned");
  return { columns, rows: rows.filter((cells) => cells[owned] === true) };
}
