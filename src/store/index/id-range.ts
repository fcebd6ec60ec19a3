// How far the ids of a table count, and whether any is left out.
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import { validAtSql } from "./as-of.ts";
import { keyListSql, requireColumn } from "./table-sql.ts";

export type IdRange = { readonly count: bigint; readonly last: bigint };

/** The ids of a whole table as of a block. */
export async function readIdRange(
  session: Pick<Session, "query">,
  table: Table,
  column: string,
  block: number,
): Promise<IdRange> {
  const { rows } = await session.query<{ count: string; last: string }>({
    text: `select count(*), coalesce(max(${column}), 0) as last from ${table.name} where ${validAtSql("$1")}`,
    values: [block],
  });
  return { count: BigInt(rows[0]?.count ?? 0), last: BigInt(rows[0]?.last ?? 0) };
}

/** The ids that belong to each of some rows of another table, in their order. */
export async function readIdRangesWithin(
  session: Pick<Session, "query">,
  table: Table,
  column: string,
  within: { readonly table: Table; readonly rows: readonly Row[] },
  block: number,
): Promise<readonly IdRange[]> {
  const { key } = within.table;
  const parent = within.table;
  const { rows } = await session.query<Record<string, string>>({
    text: `select ${key.map((name) => `k.${name}`).join(", ")}, count(t.${column}) as id_count, coalesce(max(t.${column}), 0) as id_last
      from ${keyListSql(parent)} left join (select * from ${table.name} where ${validAtSql(`$${key.length + 1}`)}) t using (${key.join(", ")})
      group by ${key.map((name) => `k.${name}`).join(", ")}`,
    values: [
      ...key.map((name) =>
        within.rows.map((row) => requireColumn(parent, name).toSql(row[name] as NonNullable<unknown>)),
      ),
      block,
    ],
  });
  const found = new Map(
    rows.map((row) => [
      formatKey(key, row),
      { count: BigInt(row.id_count ?? 0), last: BigInt(row.id_last ?? 0) },
    ]),
  );
  return within.rows.map((row) => found.get(formatKey(key, row)) ?? { count: 0n, last: 0n });
}
