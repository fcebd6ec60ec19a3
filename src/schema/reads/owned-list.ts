// A list that belongs to one record: where the record is not there, neither is the list.

import { name, type SqlValue, sql } from "../sql.ts";
import type { Table } from "../table.ts";
import type { Read } from "./read.ts";
import { valid } from "./record.ts";
import type { AnswerRows } from "./result-rows.ts";

export function ownedBy(
  owner: { table: Pick<Table, "name">; column: string; parameter: string; missing: string },
  read: Read,
): Read {
  const { table, column, parameter, missing } = owner;
  return {
    ...read,
    missing,
    plan(input) {
      const { sql: rows, cost, assemble, assembleWithin } = read.plan(input);
      const value = input.values[parameter] as SqlValue;
      const found = sql`select 1 from ${name(table.name)} o where o.${name(column)} = ${value} and ${valid("o", input.asOf)}`;
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

function ownedRows({ columns, rows }: AnswerRows): AnswerRows {
  const owned = columns.indexOf("_owned");
  return { columns, rows: rows.filter((cells) => cells[owned] === true) };
}
