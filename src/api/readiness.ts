// Whether the rows can be trusted, as far as a process can tell that only reads them.
import type { Readiness } from "../http/status-routes.ts";
import { describeSelfAuditDifferences, selfAuditDetails } from "../indexer/self-audit/status.ts";
import type { IndexerReport } from "../indexer/status.ts";
import { publicMessage, toFault } from "../lib/fault.ts";
import { readIndexerStatus } from "../store/index/indexer-status.ts";
import type { Database } from "../store/postgres/database.ts";

// The indexer reports every second; a few missed ones are a pause, more is an absence.
const REPORT_AGE_SECONDS_MAX = 30;

/** An indexer of an earlier version says nothing of audits. */
type StoredReport = Omit<IndexerReport, "audit"> & Partial<Pick<IndexerReport, "audit">>;

export async function readIndexReadiness(database: Database): Promise<Readiness> {
  try {
    const stored = await readIndexerStatus(database);
    if (!stored)
      return {
        ready: false,
        reason: "No indexer has written to this database yet; start `sextant indexer`.",
      };
    const { phase, reason, audit } = stored.report as StoredReport;
    if (stored.ageSeconds > REPORT_AGE_SECONDS_MAX) {
      return { ready: false, reason: `The indexer was last heard of ${stored.ageSeconds} seconds ago.` };
    }
    const differs = audit ? describeSelfAuditDifferences(audit) : null;
    if (phase === "live" && differs !== null) return { ready: false, reason: differs };
    if (phase === "live") return audit ? { ready: true, details: selfAuditDetails(audit) } : { ready: true };
    return { ready: false, reason: reason ?? "The history is being read." };
  } catch (error) {
    return { ready: false, reason: publicMessage(toFault(error)) };
  }
}
