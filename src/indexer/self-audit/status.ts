// The results of the self-audit: metrics, readiness and the stored report.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Readiness } from "../../http/status-routes.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { AuditDifference, AuditFinding, AuditKind, AuditReporter } from "./schedule.ts";
import { type BlockSpan, countBlocks } from "./unconfirmed-ranges.ts";

/** As stored for the processes that serve the rows, and as /ready shows it. */
export type SelfAuditReport = {
  readonly blocksChecked: number;
  readonly rowsChecked: number;
  /** Samples that failed, or that no node had enough state for. */
  readonly notCompared: number;
  /** Unix seconds; null before the first comparison. */
  readonly lastCheckedAt: number | null;
  readonly differences: readonly AuditDifference[];
  /** History that only one of several configured nodes has confirmed. */
  readonly unconfirmed: readonly BlockSpan[];
};

type SelfAuditStatus = AuditReporter & { report(): SelfAuditReport };

export function createSelfAuditStatus(registry: Registry, log: Log, clock: Clock): SelfAuditStatus {
  const metrics = createMetrics(registry);
  const checked: Record<AuditKind, number> = { blocks: 0, rows: 0 };
  const differences: Record<AuditKind, AuditFinding["differences"]> = { blocks: [], rows: [] };
  let lastCheckedAt: number | null = null;
  let unconfirmed: readonly BlockSpan[] = [];
  let notCompared = 0;
  const countNotCompared = (kind: AuditKind) => {
    notCompared += 1;
    metrics.failures.inc({ kind });
  };
  return {
    onAudited(kind, finding) {
      lastCheckedAt = Math.floor(clock.nowMs() / 1_000);
      checked[kind] += finding.checked;
      metrics.checked.inc({ kind }, finding.checked);
      metrics.differences.set({ kind }, finding.differences.length);
      metrics.lastTime.set(lastCheckedAt);
      const known = new Set(differences[kind].map(({ text }) => text));
      for (const { text } of finding.differences) {
        if (!known.has(text)) {
          log.error(
            { component: "indexer", event: "audit_difference", kind, difference: text },
            "The index differs from the chain",
          );
        }
      }
      differences[kind] = finding.differences;
    },
    onNotCompared(kind) {
      countNotCompared(kind);
      log.debug(
        { component: "indexer", event: "audit_skipped", kind },
        "No node has the state to audit a sample",
      );
    },
    onAuditFailed(kind, error) {
      countNotCompared(kind);
      log.warn({ component: "indexer", event: "audit_failed", err: error, kind }, "Auditing a sample failed");
    },
    onUnconfirmedChange(spans) {
      const [blocks, before] = [countBlocks(spans), unconfirmed.length];
      if (before === 0 && blocks > 0) {
        log.warn(
          { component: "indexer", event: "history_unconfirmed", blocks: spans },
          "Only one node confirmed parts of history",
        );
      }
      if (before > 0 && blocks === 0) {
        log.info(
          { component: "indexer", event: "history_confirmed" },
          "A second node confirmed all of history",
        );
      }
      unconfirmed = spans;
      metrics.unconfirmed.set(blocks);
    },
    report: () => ({
      blocksChecked: checked.blocks,
      rowsChecked: checked.rows,
      notCompared,
      lastCheckedAt,
      differences: [...differences.blocks, ...differences.rows],
      unconfirmed,
    }),
  };
}

/** Readiness of an index that is otherwise ready. */
export function readinessOfAudit(report: SelfAuditReport): Readiness {
  const reason = describeSelfAuditDifferences(report);
  return reason === null ? { ready: true, details: selfAuditDetails(report) } : { ready: false, reason };
}

/** The reason why rows cannot be trusted, and what to run; null while there are no differences. */
function describeSelfAuditDifferences({ differences }: SelfAuditReport): string | null {
  const [first] = differences;
  if (!first) return null;
  const more = differences.length > 1 ? ` (and ${differences.length - 1} more)` : "";
  const remedy =
    first.block === null
      ? "Run `sextant audit` with another node to see all of it."
      : `Stop the indexer and run \`sextant rebuild --reread ${first.block}\`.`;
  return `The index differs from the chain: ${first.text}${more}. ${remedy}`;
}

/** The text of /ready while there are no differences. */
function selfAuditDetails(report: SelfAuditReport): Readonly<Record<string, unknown>> {
  const { blocksChecked, rowsChecked, notCompared, lastCheckedAt, differences, unconfirmed } = report;
  return {
    audit: {
      blocks_checked: blocksChecked,
      rows_checked: rowsChecked,
      not_compared: notCompared,
      differences: differences.length,
      unconfirmed_ranges: unconfirmed.length,
      unconfirmed_blocks: countBlocks(unconfirmed),
      last_checked_at: lastCheckedAt,
    },
  };
}

function createMetrics(registry: Registry) {
  const named = (name: string, help: string) => ({
    name: `sextant_indexer_${name}`,
    help,
    registers: [registry],
  });
  const byKind = (name: string, help: string) => ({
    ...named(`audit_${name}`, help),
    labelNames: ["kind"] as const,
  });
  return {
    checked: new Counter(
      byKind("checked_total", "Blocks and rows that the indexer has compared with the chain again"),
    ),
    differences: new Gauge(byKind("differences", "Blocks and rows known to differ from the chain")),
    failures: new Counter(byKind("failures_total", "Samples that could not be compared")),
    unconfirmed: new Gauge(
      named(
        "unconfirmed_blocks",
        "Blocks of history that one node alone has shown although several are configured",
      ),
    ),
    lastTime: new Gauge(
      named("audit_last_timestamp_seconds", "When the last sample was compared, in Unix seconds"),
    ),
  };
}
