// Rows of final blocks in a range, in an order that every installation shares, page by page.
import { plainBytesSql } from "../../schema/stored-log.ts";
import type { Table } from "../../schema/table.ts";
import { type QueryRunner, readByCursor, type StoredRow } from "../postgres/session.ts";

/** Blocks from `from` up to, but not including, `to`. */
type Range = { readonly from: number; readonly to: number };

// Large enough to hide round trips. Outsiders decide how long some rows are: of those, few at a time.
const PAGE_ROWS = 2_000;
const UNBOUNDED_PAGE_ROWS = 10;

/** The versions that began in the range. Needs a transaction; one at a time. */
export function readVersionsBegun(
  session: QueryRunner,
  table: Table,
  { from, to }: Range,
): AsyncGenerator<readonly StoredRow[], void, void> {
  const columns = [...Object.keys(table.columns), "valid_from"].join(", ");
  const isUnbounded = Object.values(table.columns).some((column) => column.isUnbounded);
  return readByCursor(session, isUnbounded ? UNBOUNDED_PAGE_ROWS : PAGE_ROWS, {
    text: `select ${columns} from ${table.name} where valid_from >= $1 and valid_from < $2
      order by valid_from, ${table.key.join(", ")}`,
    values: [from, to],
  });
}

/** Blocks without logs are left out: they are deleted once they are final. Needs a transaction; one at a time. */
export function readBlocksWithLogs(
  session: QueryRunner,
  { from, to }: Range,
): AsyncGenerator<readonly StoredRow[], void, void> {
  return readByCursor(session, PAGE_ROWS, {
    text: `select number, '0x' || encode(hash, 'hex') as hash, timestamp, log_count from blocks
      where number >= $1 and number < $2 and log_count > 0 order by number`,
    values: [from, to],
  });
}

/** The block in which a range has that many logs; null if it has fewer. */
export async function findBlockWithLog(
  session: QueryRunner,
  { from, to }: Range,
  count: number,
): Promise<number | null> {
  const { rows } = await session.query<{ number: string }>({
    text: `select number from (
        select number, sum(log_count) over (order by number) as logs from blocks
        where number >= $1 and number < $2 and log_count > 0
      ) counted where logs >= $3 order by number limit 1`,
    values: [from, to, count],
  });
  const [row] = rows;
  return row ? Number(row.number) : null;
}

/** The block in which the next logs of a range have that many bytes; null if the next `logsMax` have fewer. */
export async function findBlockWithByte(
  session: QueryRunner,
  { from, to }: Range,
  { logsMax, bytes }: { readonly logsMax: number; readonly bytes: number },
): Promise<number | null> {
  // The length of a value that is stored elsewhere is known without reading it.
  const { rows } = await session.query<{ block_number: string }>({
    text: `select block_number from (
        select block_number, sum(size) over (order by block_number, log_index) as bytes from (
          select block_number, log_index, ${plainBytesSql("logs", ["data", "details"])} as size from logs
          where block_number >= $1 and block_number < $2 order by block_number, log_index limit $3
        ) next_logs
      ) counted where bytes >= $4 order by block_number limit 1`,
    values: [from, to, logsMax, bytes],
  });
  const [row] = rows;
  return row ? Number(row.block_number) : null;
}
