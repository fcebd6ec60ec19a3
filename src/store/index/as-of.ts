// Rows as of a block: all of them in pages ordered by key, an even sample, or a random one.
import type { Row, Table } from "../../schema/table.ts";
import { type QueryRunner, readByCursor, type StoredRow } from "../postgres/session.ts";
import { decodeStoredRow } from "./versioned-rows.ts";

/** Selects the versions that were valid at a block; the parameter is the block number. */
export function validAtSql(parameter: string): string {
  return `valid_from <= ${parameter} and (valid_to is null or valid_to > ${parameter})`;
}

export async function countRowsAsOf(session: QueryRunner, table: Table, block: number): Promise<number> {
  const { rows } = await session.query<{ count: string }>({
    text: `select count(*) from ${table.name} where ${validAtSql("$1")}`,
    values: [block],
  });
  return Number(rows[0]?.count);
}

type RowsAsOfOptions = {
  readonly block: number;
  /** The number of rows at that block. */
  readonly count: number;
  /** The size of the sample, spread evenly over the keys; null for all rows. */
  readonly sample: number | null;
};

// Above this, sorting the table for a sample is too slow. Disk pages are sampled instead, with all rows on them.
const SORTED_ROWS_MAX = 20_000;
// A page has dozens of versions, many of them old: sample this many for each row wanted.
const VERSIONS_PER_ROW = 100;

/** Up to `limit` random rows as of a block. */
export async function readRandomRowsAsOf(
  session: QueryRunner,
  table: Table,
  { block, limit }: { readonly block: number; readonly limit: number },
): Promise<readonly Row[]> {
  const { rows: estimates } = await session.query<{ rows: number }>({
    text: "select reltuples as rows from pg_class where oid = $1::regclass",
    values: [table.name],
  });
  const estimate = Number(estimates[0]?.rows ?? 0);
  const percent = Math.min(100, (limit * VERSIONS_PER_ROW * 100) / Math.max(1, estimate));
  const from = estimate > SORTED_ROWS_MAX ? `${table.name} tablesample system (${percent})` : table.name;
  const { rows } = await session.query<StoredRow>({
    text: `select * from ${from} where ${validAtSql("$1")} order by random() limit $2`,
    values: [block, limit],
  });
  return rows.map((row) => decodeStoredRow(table, row));
}

// Large enough to hide round trips; a page of the widest rows is still only a few hundred kilobytes.
const PAGE_ROWS = 500;

/** Needs a transaction, whose snapshot all pages share. One at a time. */
export async function* readRowsAsOf(
  session: QueryRunner,
  table: Table,
  { block, count, sample }: RowsAsOfOptions,
): AsyncGenerator<readonly Row[], void, void> {
  const valid = `select * from ${table.name} where ${validAtSql("$1")}`;
  const order = `order by ${table.key.join(", ")}`;
  const isWhole = sample === null || sample >= count;
  const text = isWhole
    ? `${valid} ${order}`
    : `select * from (select valid.*, row_number() over (${order}) as position from (${valid}) valid) numbered
       where position * $2::bigint / $3::bigint > (position - 1) * $2::bigint / $3::bigint order by position`;
  const pages = readByCursor(session, PAGE_ROWS, {
    text,
    values: isWhole ? [block] : [block, sample, count],
  });
  for await (const rows of pages) yield rows.map((row) => decodeStoredRow(table, row));
}
