// Readiness of the index, derived from the report that the indexer stores.
import type { Readiness } from "../http/status-routes.ts";
import { describeSelfAuditDifferences, selfAuditDetails } from "../indexer/self-audit/status.ts";
import type { IndexerReport } from "../indexer/status.ts";
import { publicMessage, toFault } from "../lib/fault.ts";
import { readIndexerStatus } from "../store/index/indexer-status.ts";
import type { Database } from "../store/postgres/database.ts";

// The indexer reports every second; 30 missed reports mean that it is gone.
const REPORT_AGE_SECONDS_MAX = 30;

/** Reports of earlier versions have no audit. */
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
      return { ready: false, reason: `The last report of the indexer is ${stored.ageSeconds} seconds old.` };
    }
    const difference = audit ? describeSelfAuditDifferences(audit) : null;
    if (phase === "live" && difference !== null) return { ready: false, reason: difference };
    if (phase === "live") return audit ? { ready: true, details: selfAuditDetails(audit) } : { ready: true };
    return { ready: false, reason: reason ?? "The indexer is reading history." };
  } catch (error) {
    return { ready: false, reason: publicMessage(toFault(error)) };
  }
}
