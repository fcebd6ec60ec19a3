// The holder of a lock, as a row that it renews: a standby terminates the session of a frozen holder.
import type { Client } from "pg";
import type { Database } from "./database.ts";
import { runStatement } from "./session.ts";

export type LockIdentity = { readonly key: string; readonly number: bigint };

// Reads and writes of one row.
const STATEMENT_MS_MAX = 5_000;

const after = (parameter: string) => `now() + ${parameter}::double precision * interval '1 millisecond'`;

/** Runs on the session that holds the lock, so that the row names that session. */
export async function recordLockHolder(
  client: Client,
  { target }: Database,
  { key }: LockIdentity,
  silenceMsMax: number,
): Promise<void> {
  await runStatement(
    client,
    {
      text: `INSERT INTO lock_holders (key, pid, backend_start, alive_until)
        SELECT $1, pid, backend_start, ${after("$2")} FROM pg_stat_activity WHERE pid = pg_backend_pid()
        ON CONFLICT (key) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start,
          alive_until = excluded.alive_until`,
      values: [key, silenceMsMax],
    },
    { target, statementTimeoutMs: STATEMENT_MS_MAX },
  );
}

/** Runs on the pool: the session that holds the lock may be inside a COPY that takes minutes. */
export async function renewLockHolder(
  database: Database,
  { key }: LockIdentity,
  pid: number,
  silenceMsMax: number,
): Promise<void> {
  await database.query({
    text: `UPDATE lock_holders SET alive_until = ${after("$3")} WHERE key = $1 AND pid = $2`,
    values: [key, pid, silenceMsMax],
  });
}

/**
 * Terminates the session that holds the lock if its row was not renewed in time, and returns its backend pid. Null if
 * the holder is alive, or has no row because it runs an earlier version. All times are the database's.
 */
export async function terminateFrozenLockHolder(
  client: Client,
  { target }: Database,
  { key, number }: LockIdentity,
): Promise<number | null> {
  const { rows } = await runStatement<{ pid: number; ended: boolean }>(
    client,
    {
      text: `SELECT l.pid, pg_terminate_backend(l.pid) AS ended
        FROM pg_locks l
        JOIN pg_stat_activity a ON a.pid = l.pid
        JOIN lock_holders h ON h.pid = a.pid AND h.backend_start = a.backend_start
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND (l.classid::bigint << 32 | l.objid::bigint) = $1
          AND h.key = $2 AND h.alive_until < now()`,
      values: [number, key],
    },
    { target, statementTimeoutMs: STATEMENT_MS_MAX },
  );
  return rows.find(({ ended }) => ended)?.pid ?? null;
}
