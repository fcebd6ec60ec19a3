// The indexer's status: progress for the log and the terminal, metrics, and a stored report for other processes.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { createRpcMetrics } from "../chain/rpc/metrics.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import type { Readiness } from "../http/status-routes.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { BlockSummary } from "../schema/chain-log.ts";
import { writeIndexerStatus } from "../store/index/checkpoint.ts";
import type { Database } from "../store/postgres/database.ts";
import type { WrittenBatch } from "./backfill.ts";
import { estimateWork } from "./estimate-work.ts";
import type { IndexingReporter } from "./loop.ts";
import type { LeadershipReporter } from "./run.ts";
import type { AuditReporter } from "./self-audit/schedule.ts";
import { createSelfAuditStatus, readinessOfAudit, type SelfAuditReport } from "./self-audit/status.ts";

type IndexerPhase = "starting" | "standby" | "backfill" | "live" | "failing";

/** As stored for the processes that serve the rows. */
export type IndexerReport = {
  readonly phase: IndexerPhase;
  readonly reason: string | null;
  readonly head: BlockSummary | null;
  /** When a node last showed the head, in Unix seconds. */
  readonly headSeenAt: number | null;
  readonly indexed: BlockSummary | null;
  /** The blocks that are being read to catch up; null when none are. Reports of earlier versions have none. */
  readonly history?: { readonly from: number; readonly to: number } | null;
  readonly reorgs: number;
  readonly audit: SelfAuditReport;
};

export type IndexerStatus = IndexingReporter &
  AuditReporter &
  LeadershipReporter & {
    readonly registry: Registry;
    readonly onCall: CallObserver;
    report(): IndexerReport;
    readiness(): Readiness;
  };

// Shows that something happens without a line per batch.
const PROGRESS_MS = 2_000;
// A few blocks behind the head is normal while following a chain; a minute is not.
const LAG_SECONDS_MAX = 60;

type IndexerState = {
  -readonly [Name in Exclude<keyof IndexerReport, "audit" | "history">]: IndexerReport[Name];
} & {
  backfill: { from: number; to: number; startedMs: number; logs: number; loggedMs: number };
};

/** `isWatched` if a terminal shows the progress of a backfill, which is then not logged. */
export function createIndexerStatus(log: Log, clock: Clock, isWatched = false): IndexerStatus {
  const metrics = createMetrics();
  const { report: reportAudit, ...auditReporter } = createSelfAuditStatus(metrics.registry, log, clock);
  const state: IndexerState = {
    phase: "starting",
    reason: null,
    head: null,
    headSeenAt: null,
    indexed: null,
    reorgs: 0,
    backfill: { from: 0, to: 0, startedMs: 0, logs: 0, loggedMs: 0 },
  };
  return {
    registry: metrics.registry,
    onStandby() {
      state.phase = "standby";
      log.info(
        { component: "indexer", event: "lock_wait" },
        "Waiting for the lock of the index; another indexer may hold it",
      );
    },
    onLeading() {
      state.phase = "starting";
      log.info({ component: "indexer", event: "lock_acquired" }, "This process writes the index");
    },
    onTableIndex({ number, count }) {
      state.reason = `The history is read; database index ${number} of ${count} is being made.`;
    },
    ...createIndexingReporter(state, metrics, log, clock, isWatched),
    onCall: metrics.onCall,
    ...auditReporter,
    report: () => {
      const { backfill, ...shown } = state;
      const { from, to } = backfill;
      const history = state.phase === "backfill" ? { from, to } : null;
      return { ...shown, history, audit: reportAudit() };
    },
    readiness: () => readinessOf(state, reportAudit()),
  };
}

function createIndexingReporter(
  state: IndexerState,
  metrics: Metrics,
  log: Log,
  clock: Clock,
  isWatched: boolean,
): IndexingReporter {
  return {
    onBackfillStart({ from, to }) {
      const nowMs = clock.nowMs();
      state.phase = "backfill";
      state.backfill = { from, to, startedMs: nowMs, logs: 0, loggedMs: nowMs };
      log.info({ component: "indexer", event: "backfill_start", from, to }, "Reading history");
    },
    onBatchWritten(written, phase) {
      state.phase = phase;
      state.reason = null;
      state.indexed = written.tip;
      metrics.logs.inc(written.logs);
      metrics.write.observe(written.ms / 1000);
      updateGauges(metrics, state);
      if (phase === "backfill") {
        if (!isWatched) logBackfillProgress(state.backfill, written, log, clock);
      } else if (written.logs > 0) {
        log.debug(
          { component: "indexer", event: "block_indexed", block: written.tip.number, logs: written.logs },
          "Indexed",
        );
      }
    },
    onHead({ number, hash, timestamp }) {
      state.head = { number, hash, timestamp };
      state.headSeenAt = Math.floor(clock.nowMs() / 1_000);
      updateGauges(metrics, state);
    },
    onSynced(position) {
      state.phase = "live";
      state.reason = null;
      state.indexed = position.block;
      updateGauges(metrics, state);
    },
    onRollback(to, depth) {
      state.reorgs += 1;
      state.indexed = to;
      metrics.reorgs.inc();
      metrics.undone.inc(depth);
      log.warn(
        { component: "indexer", event: "reorg", block: to.number, hash: to.hash, depth },
        "Chain forked, rolled back",
      );
      updateGauges(metrics, state);
    },
    onFailure(error, retryMs) {
      state.phase = "failing";
      // Only the messages of our own faults are public; the log has the rest.
      state.reason =
        error instanceof Fault ? error.message : "The next block cannot be indexed; see the indexer's log.";
      metrics.failures.inc();
      log.error(
        { component: "indexer", event: "indexing_failed", err: error, retryMs },
        "Indexing failed, retrying",
      );
    },
  };
}

function readinessOf({ phase, reason, head, indexed }: IndexerState, audit: SelfAuditReport): Readiness {
  if (reason !== null) return { ready: false, reason };
  if (phase === "standby") return { ready: false, reason: "This indexer stands by; another one writes." };
  if (phase !== "live") return { ready: false, reason: "The history is being read." };
  const seconds = lagSeconds(head, indexed);
  if (seconds === null || seconds > LAG_SECONDS_MAX) {
    return {
      ready: false,
      reason: `The index is ${seconds ?? "an unknown number of"} seconds behind the head.`,
    };
  }
  return readinessOfAudit(audit);
}

function updateGauges(metrics: Metrics, { head, indexed }: IndexerState): void {
  if (head) metrics.head.set(head.number);
  if (indexed) metrics.indexed.set(indexed.number);
  metrics.lagBlocks.set(head && indexed ? Math.max(0, head.number - indexed.number) : 0);
  metrics.lagSeconds.set(lagSeconds(head, indexed) ?? 0);
}

function lagSeconds(head: BlockSummary | null, indexed: BlockSummary | null): number | null {
  return head && indexed ? Math.max(0, head.timestamp - indexed.timestamp) : null;
}

function logBackfillProgress(
  backfill: IndexerState["backfill"],
  written: WrittenBatch,
  log: Log,
  clock: Clock,
): void {
  const nowMs = clock.nowMs();
  const block = written.tip.number;
  backfill.logs += written.logs;
  if (block < backfill.to && nowMs - backfill.loggedMs < PROGRESS_MS) return;
  backfill.loggedMs = nowMs;
  const { from, to, startedMs, logs } = backfill;
  const estimate = estimateWork({ from, to, block, logs }, nowMs - startedMs);
  log.info({ component: "indexer", event: "backfill_progress", block, to, ...estimate }, "Reading history");
}

type Metrics = ReturnType<typeof createMetrics>;

function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `sextant_indexer_${name}`, help, registers });
  const counter = (name: string, help: string) =>
    new Counter({ name: `sextant_indexer_${name}`, help, registers });
  return {
    registry,
    head: gauge("head_block", "Newest block of the chain"),
    indexed: gauge("indexed_block", "Last block whose events are in the rows"),
    lagBlocks: gauge("lag_blocks", "Blocks between the head and the index"),
    lagSeconds: gauge("lag_seconds", "Seconds of chain time between the head and the index"),
    logs: counter("logs_total", "Events indexed by this process"),
    reorgs: counter("reorgs_total", "Times the chain forked and the index was rolled back"),
    undone: counter("rolled_back_blocks_total", "Blocks undone by rollbacks"),
    failures: counter("failures_total", "Times indexing failed and was tried again"),
    write: new Histogram({
      name: "sextant_indexer_write_seconds",
      help: "Time to write one batch in its transaction",
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers,
    }),
    onCall: createRpcMetrics(registry),
  };
}

/** Describes a position with its rate and the time left. */
type HistoryMeter = {
  describe(position: { readonly done: number; readonly total: number; readonly unit: string }): string;
};

/** Position and lag of the index, with its phase and reorgs if they are unusual. */
export function describeIndexPosition(report: IndexerReport, meter: HistoryMeter): string[] {
  const { phase, head, indexed, history, reorgs } = report;
  if (history && indexed) {
    const done = Math.max(0, indexed.number - history.from + 1);
    const total = history.to - history.from + 1;
    return [`reading history, ${meter.describe({ done, total, unit: "blocks" })}`];
  }
  const behind = head && indexed ? head.number - indexed.number : null;
  const lag = behind === null ? "" : behind === 0 ? ", synced" : `, ${behind.toLocaleString("en")} behind`;
  return [
    `block ${head?.number ?? "–"}${lag}`,
    ...(phase === "live" ? [] : [`index ${phase}`]),
    ...(reorgs > 0 ? [`${reorgs} reorgs`] : []),
  ];
}

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
