// Rows as they were at a block: all of them page by page in the order of their keys, or some of them spread evenly.
import type { Row, Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";
import { decodeStoredRow } from "./versioned-rows.ts";

type Queries = Pick<Session, "query">;

/** Which versions held at a block; the parameter is the block's number. */
export function validAtSql(parameter: string): string {
  return `valid_from <= ${parameter} and (valid_to is null or valid_to > ${parameter})`;
}

export async function countRowsAsOf(session: Queries, table: Table, block: number): Promise<number> {
  const { rows } = await session.query<{ count: string }>({
    text: `select count(*) from ${table.name} where ${validAtSql("$1")}`,
    values: [block],
  });
  return Number(rows[0]?.count);
}

export type RowsAsOfOptions = {
  readonly block: number;
  /** How many rows there are at that block. */
  readonly count: number;
  /** At most so many of them, spread evenly over the order of the keys; null for all. */
  readonly sample: number | null;
};

// Above this a table is too long to be sorted for a sample; pages are drawn instead, and rows that share a page come together.
const SORTED_ROWS_MAX = 20_000;
// A page holds some dozens of versions, many of them old: so many are drawn for each row wanted.
const VERSIONS_PER_ROW = 100;

/** Some rows at a block, drawn at random; fewer where there are fewer. */
export async function readRandomRowsAsOf(
  session: Queries,
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
  const { rows } = await session.query<Record<string, NonNullable<unknown> | null>>({
    text: `select * from ${from} where ${validAtSql("$1")} order by random() limit $2`,
    values: [block, limit],
  });
  return rows.map((row) => decodeStoredRow(table, row));
}

// Large enough to hide round trips, small enough that a page of the widest rows is a few hundred kilobytes.
const PAGE_ROWS = 500;

/** Pages of rows; needs a transaction, whose snapshot all pages share. One at a time per table. */
export async function* readRowsAsOf(
  session: Queries,
  table: Table,
  { block, count, sample }: RowsAsOfOptions,
): AsyncGenerator<readonly Row[], void, void> {
  const cursor = `rows_of_${table.name}`;
  const held = `select * from ${table.name} where ${validAtSql("$1")}`;
  const order = `order by ${table.key.join(", ")}`;
  const every = sample === null || sample >= count;
  const text = every
    ? `${held} ${order}`
    : `select * from (select held.*, row_number() over (${order}) as place from (${held}) held) placed
       where place * $2::bigint / $3::bigint > (place - 1) * $2::bigint / $3::bigint order by place`;
  await session.query({
    text: `declare ${cursor} no scroll cursor for ${text}`,
    values: every ? [block] : [block, sample, count],
  });
  try {
    for (;;) {
      const { rows } = await session.query<Record<string, NonNullable<unknown> | null>>(
        `fetch ${PAGE_ROWS} from ${cursor}`,
      );
      if (rows.length > 0) yield rows.map((row) => decodeStoredRow(table, row));
      if (rows.length < PAGE_ROWS) break;
    }
  } finally {
    // In a transaction that has failed the cursor is gone already, and the failure is what is to be told.
    await session.query(`close ${cursor}`).catch(() => undefined);
  }
}
