// Rows held against what other tables add up to, as of one block and inside the database.
import { formatKey, type Row, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import { validAtSql } from "./as-of.ts";
import { keyListSql, requireColumn } from "./table-sql.ts";

// How far the ids of a table count, and whether any is left out.

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

// Versions of rows that contradict each other: a key's versions must follow one another without gap or overlap.

export type InconsistentVersion = {
  readonly key: string;
  readonly version: string;
  readonly expected: string;
};

export type InconsistentVersions = { readonly count: number; readonly first: readonly InconsistentVersion[] };

type FaultRow = Record<string, string | null> & { valid_from: string; fault: string; total: string };

/** Looks at every version in a table, whatever block is audited; counts all faults and tells of the first. */
export async function findInconsistentVersions(
  session: Pick<Session, "query">,
  table: Table,
  options: { readonly indexed: number; readonly finalized: number; readonly limit: number },
): Promise<InconsistentVersions> {
  const { rows } = await session.query<FaultRow>({
    text: faultsSql(table),
    values: [options.indexed, options.finalized, options.limit],
  });
  const first = rows.map((row) => ({
    key: formatKey(table.key, row),
    version: `blocks ${row.valid_from} to ${row.valid_to ?? "now"}`,
    expected: row.fault,
  }));
  return { count: Number(rows[0]?.total ?? 0), first };
}

function faultsSql(table: Table): string {
  const key = table.key.join(", ");
  const rules: readonly (readonly [condition: string, fault: string])[] = [
    ["valid_from > $1", "'nothing that begins after the indexed block'"],
    ["valid_to > $1", "'nothing that ends after the indexed block'"],
    ["valid_to <= valid_from", "'an end after its beginning'"],
    ["valid_to is null and next is not null", "'an end at block ' || next || ', where another begins'"],
    // A row is never taken back, so its last version never ends.
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
  // Where only the recent past is kept, older versions may be gone or still there.
  const kept = table.history === "recent" ? "valid_to is null or valid_to > $2" : "$2::bigint is not null";
  return `
    select *, count(*) over () as total from (
      select *, case ${rules.map(([condition, fault]) => `when ${condition} then ${fault}`).join(" ")} end as fault
      from (
        select ${key}, valid_from, valid_to, ${table.hasProvenance ? "block_number," : ""}
          lead(valid_from) over versions as next, row_number() over versions - 1 as earlier
        from ${table.name} where ${kept} window versions as (partition by ${key} order by valid_from)
      ) versions
    ) judged where fault is not null order by ${key}, valid_from limit $3`;
}

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
