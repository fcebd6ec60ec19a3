// Reads what the server reports about its replicas: whether a commit waits for one of them, and which are attached.
import type { QueryRunner } from "./session.ts";

export type Replication = {
  /** Whether the server is configured to wait for a standby at all (`synchronous_standby_names`). */
  readonly waitsForStandby: boolean;
  /** Attached standbys that a commit waits for. */
  readonly synchronous: number;
  readonly asynchronous: number;
  /** Attached standbys of which our user may not see the kind (without `pg_monitor`). */
  readonly hidden: number;
  /** Commits that a standby has not confirmed for seconds; without `pg_monitor` those of our user only. */
  readonly waitingCommits: number;
};

// A standby in the same region confirms within milliseconds.
const CONFIRMATION_SECONDS_MAX = 5;

/** One short read of shared memory. */
export async function readReplication(database: QueryRunner): Promise<Replication> {
  const { rows } = await database.query<Replication>(
    `SELECT trim(current_setting('synchronous_standby_names')) <> '' AS "waitsForStandby",
            (count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))::int AS synchronous,
            (count(*) FILTER (WHERE sync_state IN ('async', 'potential')))::int AS asynchronous,
            (count(*) FILTER (WHERE pid IS NOT NULL AND sync_state IS NULL))::int AS hidden,
            (SELECT count(*)::int FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event = 'SyncRep'
               AND clock_timestamp() - query_start > interval '${CONFIRMATION_SECONDS_MAX} seconds') AS "waitingCommits"
     FROM pg_stat_replication`,
  );
  const [row] = rows;
  if (!row) throw new Error("the server returned no row about its replication");
  return row;
}
