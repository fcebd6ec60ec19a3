// Stores what the indexer reports for the processes that serve its rows, once a second.
import type { Log } from "../lib/log.ts";
import { writeIndexerStatus } from "../store/index/checkpoint.ts";
import type { Database } from "../store/postgres/database.ts";
import type { IndexerStatus } from "./status.ts";

// Frequent enough for readiness probes, and cheap.
const REPORT_MS = 1_000;

/** Stores the status of the writing process until the timer is cleared; a standby would overwrite it. */
export function startReporting(database: Database, status: IndexerStatus, log: Log): NodeJS.Timeout {
  return setInterval(() => {
    const report = status.report();
    if (report.phase === "standby" || report.phase === "starting") return;
    writeIndexerStatus(database, report).catch((err) =>
      log.debug(
        { component: "indexer", event: "report_failed", err },
        "The indexer report could not be stored",
      ),
    );
  }, REPORT_MS);
}
