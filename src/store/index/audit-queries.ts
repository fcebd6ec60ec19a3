// Rows held against what other tables add up to, as of one block and inside the database.
import { formatKey, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import { validAtSql } from "./as-of.ts";

/** SQL whose rows have the key and the columns; in it, a table's name stands for its rows as of the block. */
export type AggregateCheck = {
  readonly columns: readonly string[];
  readonly from: readonly Table[];
  readonly sql: string;
};

export type Mismatch = {
  readonly key: string;
  readonly column: string;
  readonly found: string;
  readonly expected: string;
};

export type Mismatches = { readonly count: number; readonly first: readonly Mismatch[] };

/** Counts every value that differs and tells of the first `limit` rows. */
export async function findAggregateMismatches(
  session: Pick<Session, "query">,
  table: Table,
  recount: AggregateCheck,
  options: { readonly block: number; readonly limit: number },
): Promise<Mismatches> {
  const { rows } = await session.query<Record<string, string | null>>({
    text: recountSql(table, recount),
    values: [options.block, options.limit],
  });
  const first = rows.flatMap((row) =>
    recount.columns
      .filter((column) => row[`found_${column}`] !== row[`expected_${column}`])
      .map((column) => ({
        key: formatKey(table.key, row),
        column,
        found: String(row[`found_${column}`]),
        expected: String(row[`expected_${column}`]),
      })),
  );
  return { count: Number(rows[0]?.differing ?? 0), first };
}

function recountSql(table: Table, { columns, from, sql }: AggregateCheck): string {
  const names = [...new Set([table, ...from].map(({ name }) => name))];
  const asOf = names.map(
    (name) => `${name} as not materialized (select * from ${name} where ${validAtSql("$1")})`,
  );
  // A counter that nobody has ever raised is zero, whether its row exists or not.
  const value = (side: string, column: string) =>
    table.hasProvenance ? `${side}.${column}` : `coalesce(${side}.${column}, 0)`;
  const differs = (column: string) =>
    `${value("found", column)} is distinct from ${value("expected", column)}`;
  const selected = [
    ...table.key.map((name) => `coalesce(found.${name}, expected.${name}) as ${name}`),
    ...columns.flatMap((column) => [
      `${value("found", column)}::text as found_${column}`,
      `${value("expected", column)}::text as expected_${column}`,
    ]),
    `sum(${columns.map((column) => `(${differs(column)})::int`).join(" + ")}) over () as differing`,
  ];
  return `with ${asOf.join(", ")}, expected as (${sql})
    select ${selected.join(", ")}
    from ${table.name} found full join expected on ${table.key.map((name) => `found.${name} = expected.${name}`).join(" and ")}
    where ${columns.map(differs).join(" or ")}
    order by ${table.key.join(", ")} limit $2`;
}
