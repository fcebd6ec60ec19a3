// Leases in SQL: whether a process acts on a row of payments or channels, or another one may take the row.
import { rawSql } from "../../schema/sql.ts";

/**
 * No lease is as long as two minutes: one that ends later is from a clock of the database that was set back since, and would
 * keep the row for hours. If its process lives, it loses the row as a process that stalls does.
 */
const LATEST_END = "now() + interval '2 minutes'";

/** No process acts on the row: without a lease, or with one that was not renewed in time. */
export const LEASE_OVER = rawSql(
  `(lease_until is null or lease_until <= now() or lease_until > ${LATEST_END})`,
);

/**
 * A process may still store the response of the row: its lease lapsed for less than a handler may take. It stalls then, or
 * the database was away, and is not dead for sure.
 */
export const HELD = rawSql(
  `(owner is not null and lease_until > now() - interval '30 seconds' and lease_until <= ${LATEST_END})`,
);
