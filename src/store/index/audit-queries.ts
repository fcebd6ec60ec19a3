// Consistency checks of rows, computed inside the database as of one block.
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import type { QueryRunner } from "../postgres/session.ts";
import { validAtSql } from "./as-of.ts";
import { keyListSql, requireColumn, requireKeyValue } from "./versioned-rows.ts";

/** Ids are gapless if the count equals the last id. */
export type IdRange = { readonly count: bigint; readonly last: bigint };

/** The ids of a whole table as of a block. */
export async function readIdRange(
  session: QueryRunner,
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

/** The ids below each of some rows of a parent table, in the order of those rows. */
export async function readIdRangesWithin(
  session: QueryRunner,
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
        within.rows.map((row) => requireColumn(parent, name).toSql(requireKeyValue(parent, row, name))),
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

/** The versions of a key must follow one another without gap or overlap. */
type InconsistentVersion = {
  readonly key: string;
  readonly version: string;
  readonly expected: string;
};

type InconsistentVersions = { readonly count: number; readonly first: readonly InconsistentVersion[] };

type InconsistentRow = Record<string, string | null> & {
  valid_from: string;
  expected: string;
  total: string;
};

/** Checks every version of a table, whatever block is audited; counts all that are wrong and returns the first. */
export async function findInconsistentVersions(
  session: QueryRunner,
  table: Table,
  options: { readonly indexed: number; readonly finalized: number; readonly limit: number },
): Promise<InconsistentVersions> {
  const { rows } = await session.query<InconsistentRow>({
    text: inconsistentVersionsSql(table),
    values: [options.indexed, options.finalized, options.limit],
  });
  const first = rows.map((row) => ({
    key: formatKey(table.key, row),
    version: `blocks ${row.valid_from} to ${row.valid_to ?? "now"}`,
    expected: row.expected,
  }));
  return { count: Number(rows[0]?.total ?? 0), first };
}

function inconsistentVersionsSql(table: Table): string {
  const key = table.key.join(", ");
  const rules: readonly (readonly [condition: string, expected: string])[] = [
    ["valid_from > $1", "'nothing that begins after the indexed block'"],
    ["valid_to > $1", "'nothing that ends after the indexed block'"],
    ["valid_to <= valid_from", "'an end after its beginning'"],
    ["valid_to is null and next is not null", "'an end at block ' || next || ', where another begins'"],
    // Rows are never deleted, so the last version never ends.
    ["valid_to is not null and next is null", "'another that follows it'"],
    ["valid_to < next", "'no gap until block ' || next"],
    ["valid_to > next", "'no overlap with the one from block ' || next"],
    ...(table.hasProvenance
      ? ([
          ["block_number > valid_from", "'a beginning no earlier than its event'"],
          ["earlier = 0 and block_number <> valid_from", "'a beginning at the block of its event'"],
        ] as const)
      : []),
  ];
  // Older versions of a `recent` table may be deleted already.
  const checked = table.history === "recent" ? "valid_to is null or valid_to > $2" : "$2::bigint is not null";
  return `
    select *, count(*) over () as total from (
      select *, case ${rules.map(([condition, expected]) => `when ${condition} then ${expected}`).join(" ")} end as expected
      from (
        select ${key}, valid_from, valid_to, ${table.hasProvenance ? "block_number," : ""}
          lead(valid_from) over versions as next, row_number() over versions - 1 as earlier
        from ${table.name} where ${checked} window versions as (partition by ${key} order by valid_from)
      ) versions
    ) classified where expected is not null order by ${key}, valid_from limit $3`;
}

/** The SQL returns the key and the columns; a table name in it means the table's rows as of the block. */
type AggregateCheck = {
  readonly columns: readonly string[];
  readonly from: readonly Table[];
  readonly sql: string;
};

type Mismatch = {
  readonly key: string;
  readonly column: string;
  readonly found: string;
  readonly expected: string;
};

type Mismatches = { readonly count: number; readonly first: readonly Mismatch[] };

/** Counts every value that differs and returns those of the first `limit` rows. */
export async function findAggregateMismatches(
  session: QueryRunner,
  table: Table,
  check: AggregateCheck,
  options: { readonly block: number; readonly limit: number },
): Promise<Mismatches> {
  const { rows } = await session.query<Record<string, string | null>>({
    text: aggregateMismatchesSql(table, check),
    values: [options.block, options.limit],
  });
  const first = rows.flatMap((row) =>
    check.columns
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

function aggregateMismatchesSql(table: Table, { columns, from, sql }: AggregateCheck): string {
  const names = [...new Set([table, ...from].map(({ name }) => name))];
  const asOf = names.map(
    (name) => `${name} as not materialized (select * from ${name} where ${validAtSql("$1")})`,
  );
  // A counter without a row is zero.
  const value = (side: string, column: string) =>
    table.hasProvenance ? `${side}.${column}` : `coalesce(${side}.${column}, 0)`;
  const differs = (column: string) =>
    `${value("found", column)} is distinct from ${value("expected", column)}`;
  const selected = [
    ...table.key.map((name) => `coalesce(found.${name}, expected.${name}) as ${name}`),
    ...columns.flatMap((column) =>
      ["found", "expected"].map((side) => {
        const toText = requireColumn(table, column).isHex ? "hex_text" : "";
        return `${toText}(${value(side, column)})::text as ${side}_${column}`;
      }),
    ),
    `sum(${columns.map((column) => `(${differs(column)})::int`).join(" + ")}) over () as differing`,
  ];
  return `with ${asOf.join(", ")}, expected as (${sql})
    select ${selected.join(", ")}
    from ${table.name} found full join expected on ${table.key.map((name) => `found.${name} = expected.${name}`).join(" and ")}
    where ${columns.map(differs).join(" or ")}
    order by ${table.key.join(", ")} limit $2`;
}
