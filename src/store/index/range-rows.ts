// Rows of final blocks in a range, in an order that every installation shares, page by page.
import type { Table } from "../../schema/table.ts";
import type { QueryRunner, SqlStatement } from "../postgres/session.ts";

/** Blocks from `from` up to, but not including, `to`. */
type Range = { readonly from: number; readonly to: number };

type StoredRow = Readonly<Record<string, NonNullable<unknown> | null>>;

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

/** A block as it is stored; null if it is not, as an empty one that is final. */
export async function readStoredBlock(
  session: QueryRunner,
  number: number,
): Promise<{ readonly hash: string; readonly timestamp: number } | null> {
  const { rows } = await session.query<{ hash: string; timestamp: string }>({
    text: "select '0x' || encode(hash, 'hex') as hash, timestamp from blocks where number = $1",
    values: [number],
  });
  const [row] = rows;
  return row ? { hash: row.hash, timestamp: Number(row.timestamp) } : null;
}

/** The newest block with logs up to a block; such blocks are stored for good. */
export async function readNewestBlockWithLogs(
  session: QueryRunner,
  upTo: number,
): Promise<{ readonly number: number; readonly hash: string } | null> {
  const { rows } = await session.query<{ number: string; hash: string }>({
    text: `select number, '0x' || encode(hash, 'hex') as hash from blocks
      where number <= $1 and log_count > 0 order by number desc limit 1`,
    values: [upTo],
  });
  const [row] = rows;
  return row ? { number: Number(row.number), hash: row.hash } : null;
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
          select block_number, log_index, octet_length(data) + coalesce(octet_length(details), 0) as size from logs
          where block_number >= $1 and block_number < $2 order by block_number, log_index limit $3
        ) next_logs
      ) counted where bytes >= $4 order by block_number limit 1`,
    values: [from, to, logsMax, bytes],
  });
  const [row] = rows;
  return row ? Number(row.block_number) : null;
}

async function* readByCursor(
  session: QueryRunner,
  pageRows: number,
  { text, values = [] }: SqlStatement,
): AsyncGenerator<readonly StoredRow[], void, void> {
  await session.query({ text: `declare rows_of_range no scroll cursor for ${text}`, values });
  try {
    for (;;) {
      const { rows } = await session.query<StoredRow>(`fetch ${pageRows} from rows_of_range`);
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) break;
    }
  } finally {
    // A failed transaction has closed the cursor already, and its own error is the one to report.
    await session.query("close rows_of_range").catch(() => undefined);
  }
}
