// The schedule of the self-audit: compares a sample with the chain at intervals while the indexer is synced.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { BlockSpan } from "./unconfirmed-ranges.ts";

/** `blocks`: stored logs against the logs of nodes; `rows`: rows against the contracts. */
export type AuditKind = "blocks" | "rows";

export type AuditDifference = {
  /** The block whose logs differ; null for a row. */
  readonly block: number | null;
  readonly text: string;
};

export type AuditFinding = {
  /** How many blocks or rows were compared. */
  readonly checked: number;
  /** All known differences, including earlier ones that still exist. */
  readonly differences: readonly AuditDifference[];
};

/** Null when there is nothing to compare yet; "not compared" if no node has what the sample needs. */
export type AuditCheck = (signal: AbortSignal) => Promise<AuditFinding | "not compared" | null>;

export type AuditReporter = {
  onAudited(kind: AuditKind, finding: AuditFinding): void;
  onNotCompared(kind: AuditKind): void;
  onAuditFailed(kind: AuditKind, error: unknown): void;
  /** All ranges that only one node has confirmed. */
  onUnconfirmedChange(spans: readonly BlockSpan[]): void;
};

type ContinuousAuditOptions = {
  readonly intervalMs: number;
  /** Auditing waits while the indexer is not synced. */
  readonly isSynced: () => boolean;
  readonly report: AuditReporter;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

/** Runs until the signal aborts. Reports a failing check and retries it later: an audit never stops the indexer. */
export async function auditContinuously(
  checks: Readonly<Record<AuditKind, AuditCheck>>,
  { intervalMs, isSynced, report, signal, clock = systemClock }: ContinuousAuditOptions,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal).catch(() => undefined);
    for (const kind of ["blocks", "rows"] as const) {
      if (signal.aborted || !isSynced()) break;
      try {
        const finding = await checks[kind](signal);
        if (finding === "not compared") report.onNotCompared(kind);
        else if (finding) report.onAudited(kind, finding);
      } catch (error) {
        if (!signal.aborted) report.onAuditFailed(kind, error);
      }
    }
  }
}
