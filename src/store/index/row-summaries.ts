// Keeps the BRIN indexes of the row tables complete, so that a rollback visits the last rows and not the whole table.
import type { Table } from "../../schema/table.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import { SQLSTATE, sqlState } from "../postgres/errors.ts";
import { bornIndexName } from "./table-sql.ts";

type RowSummaries = {
  /** After a batch was committed. */
  add(logs: number): Promise<void>;
};

// A tenth of a second of work for several seconds of writing, while the pages are still in memory.
const LOGS_BETWEEN = 100_000;
const STATEMENT_MS_MAX = 300_000;
// Autovacuum holds the same lock, summarizes as well, and would be cancelled if it were waited for.
const LOCK_WAIT_MS_MAX = 100;

/**
 * PostgreSQL summarizes new pages only in a vacuum, which comes after a fifth of a table is new, and every search visits
 * pages without a summary: those of two million rows in a table of ten million. The first batch after a start takes in what a process
 * left that died.
 */
export function createRowSummaries(
  lock: Lock,
  tables: readonly Table[],
  logsBetween = LOGS_BETWEEN,
): RowSummaries {
  let logsLeft = 0;
  return {
    async add(logs) {
      logsLeft -= logs;
      if (logsLeft > 0) return;
      logsLeft = logsBetween;
      for (const table of tables) await summarizeRows(lock, table);
    },
  };
}

async function summarizeRows(lock: Lock, table: Table): Promise<void> {
  const summarize = lock.transaction(
    async (session) => {
      await session.query(`set local lock_timeout to ${LOCK_WAIT_MS_MAX}`);
      // An operator may have dropped the index: null, and nothing is done.
      await session.query(`select brin_summarize_new_values(to_regclass('${bornIndexName(table)}'))`);
    },
    { statementTimeoutMs: STATEMENT_MS_MAX },
  );
  await summarize.catch((error) => {
    if (sqlState(error) !== SQLSTATE.lockNotAvailable) throw error;
  });
}
