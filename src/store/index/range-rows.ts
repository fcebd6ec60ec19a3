// Rows of final blocks in a range, in an order that every installation shares, page by page.
import type { Table } from "../../schema/table.ts";
import type { QueryRunner, SqlStatement } from "../postgres/session.ts";

/** Blocks from `from` up to, but not including, `to`. */
type Range = { readonly from: number; readonly to: number };

type StoredRow = Readonly<Record<string, NonNullable<unknown> | null>>;

// Large enough to hide round trips. Outsiders decide how long some rows are: of those, few at a time.
const PAGE_ROWS = 2_000;
const UNBOUNDED_PAGE_ROWS = 100;

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

/** A block as it is stored; null where it is not, as an empty one that is final. */
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
