// How far the ids of a table count, and whether any is left out.
import { keyText, type Row, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import { heldAt } from "./as-of.ts";
import { columnOf, keyList } from "./table-sql.ts";

export type IdSeries = { readonly count: bigint; readonly last: bigint };

/** The ids of a whole table as of a block. */
export async function idSeries(
  session: Pick<Session, "query">,
  table: Table,
  column: string,
  block: number,
): Promise<IdSeries> {
  const { rows } = await session.query<{ count: string; last: string }>({
    text: `select count(*), coalesce(max(${column}), 0) as last from ${table.name} where ${heldAt("$1")}`,
    values: [block],
  });
  return { count: BigInt(rows[0]?.count ?? 0), last: BigInt(rows[0]?.last ?? 0) };
}

/** The ids that belong to each of some rows of another table, in their order. */
export async function idSeriesWithin(
  session: Pick<Session, "query">,
  table: Table,
  column: string,
  within: { readonly table: Table; readonly rows: readonly Row[] },
  block: number,
): Promise<readonly IdSeries[]> {
  const { key } = within.table;
  const parent = within.table;
  const { rows } = await session.query<Record<string, string>>({
    text: `select ${key.map((name) => `k.${name}`).join(", ")}, count(t.${column}) as id_count, coalesce(max(t.${column}), 0) as id_last
      from ${keyList(parent)} left join (select * from ${table.name} where ${heldAt(`$${key.length + 1}`)}) t using (${key.join(", ")})
      group by ${key.map((name) => `k.${name}`).join(", ")}`,
    values: [
      ...key.map((name) =>
        within.rows.map((row) => columnOf(parent, name).toSql(row[name] as NonNullable<unknown>)),
      ),
      block,
    ],
  });
  const found = new Map(
    rows.map((row) => [
      keyText(key, row),
      { count: BigInt(row.id_count ?? 0), last: BigInt(row.id_last ?? 0) },
    ]),
  );
  return within.rows.map((row) => found.get(keyText(key, row)) ?? { count: 0n, last: 0n });
}
