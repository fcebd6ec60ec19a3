// What the indexer says of itself: to people as progress, to machines as metrics, to other processes as readiness.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { createRpcMetrics } from "../chain/rpc/metrics.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import type { Readiness } from "../http/server.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { IndexingReporter } from "./loop.ts";
import type { BlockSummary } from "./ports.ts";
import type { AuditReporter } from "./self-audit/schedule.ts";
import {
  createSelfAuditStatus,
  describeSelfAuditDifferences,
  type SelfAuditReport,
  selfAuditDetails,
} from "./self-audit/status.ts";

export type IndexerPhase = "starting" | "standby" | "backfill" | "live" | "failing";

/** As stored for the processes that serve the rows. */
export type IndexerReport = {
  readonly phase: IndexerPhase;
  readonly reason: string | null;
  readonly head: BlockSummary | null;
  readonly indexed: BlockSummary | null;
  readonly reorgs: number;
  readonly audit: SelfAuditReport;
};

export type IndexerStatus = IndexingReporter &
  AuditReporter & {
    readonly registry: Registry;
    standby(): void;
    leading(): void;
    readonly onCall: CallObserver;
    report(): IndexerReport;
    readiness(): Readiness;
  };

// People want to see that something happens, not a line per batch.
const PROGRESS_MS = 2_000;
// Being a few blocks behind the head is what following a chain looks like; a minute behind is not.
const LAG_SECONDS_MAX = 60;

export function createIndexerStatus(log: Log, clock: Clock): IndexerStatus {
  const metrics = createMetrics();
  const audit = createSelfAuditStatus(metrics.registry, log, clock);
  let phase: IndexerPhase = "starting";
  let reason: string | null = null;
  let head: BlockSummary | null = null;
  let indexed: BlockSummary | null = null;
  let reorgs = 0;
  let backfill = { from: 0, to: 0, startedMs: 0, logs: 0, toldMs: 0 };

  const lagBlocks = () => (head && indexed ? Math.max(0, head.number - indexed.number) : null);
  const lagSeconds = () => (head && indexed ? Math.max(0, head.timestamp - indexed.timestamp) : null);
  const moved = () => {
    if (head) metrics.head.set(head.number);
    if (indexed) metrics.indexed.set(indexed.number);
    metrics.lagBlocks.set(lagBlocks() ?? 0);
    metrics.lagSeconds.set(lagSeconds() ?? 0);
  };

  return {
    registry: metrics.registry,
    standby() {
      phase = "standby";
      log.info("Waiting for the lock of the index; another indexer may hold it");
    },
    leading() {
      phase = "starting";
      log.info("This process writes the index");
    },
    onBackfillStart({ from, to }) {
      phase = "backfill";
      backfill = { from, to, startedMs: clock.nowMs(), logs: 0, toldMs: clock.nowMs() };
      log.info(`Reading history: blocks ${from} to ${to}`);
    },
    onBatchWritten(written, during) {
      phase = during;
      reason = null;
      indexed = written.tip;
      metrics.logs.inc(written.logs);
      metrics.write.observe(written.ms / 1000);
      moved();
      if (during === "live") {
        if (written.logs > 0) log.debug({ block: written.tip.number, logs: written.logs }, "Indexed");
        return;
      }
      backfill.logs += written.logs;
      const done = written.tip.number >= backfill.to;
      if (!done && clock.nowMs() - backfill.toldMs < PROGRESS_MS) return;
      backfill.toldMs = clock.nowMs();
      log.info(progressLine(backfill, written.tip.number, clock.nowMs()));
    },
    onHead({ number, hash, timestamp }) {
      head = { number, hash, timestamp };
      moved();
    },
    onSynced(position) {
      phase = "live";
      reason = null;
      indexed = position.block;
      moved();
    },
    onRollback(to, depth) {
      reorgs += 1;
      indexed = to;
      metrics.reorgs.inc();
      metrics.undone.inc(depth);
      log.warn(
        { block: to.number, hash: to.hash, depth },
        `The chain forked: rolled back ${depth} blocks to ${to.number}`,
      );
      moved();
    },
    onFailure(error, retryMs) {
      phase = "failing";
      // Only our own sentences are meant for everyone; the rest is in the log.
      reason =
        error instanceof Fault ? error.message : "The next block can not be indexed; the log tells why.";
      metrics.failures.inc();
      log.error({ err: error, retryMs }, "Indexing failed and is tried again");
    },
    onCall: metrics.onCall,
    onAudited: audit.onAudited,
    onNotCompared: audit.onNotCompared,
    onAuditFailed: audit.onAuditFailed,
    onUnconfirmedChange: audit.onUnconfirmedChange,
    report: () => ({ phase, reason, head, indexed, reorgs, audit: audit.report() }),
    readiness() {
      const seconds = lagSeconds();
      if (reason !== null) return { ready: false, reason };
      if (phase === "standby") return { ready: false, reason: "This indexer stands by; another one writes." };
      if (phase !== "live") return { ready: false, reason: "The history is being read." };
      if (seconds === null || seconds > LAG_SECONDS_MAX) {
        return {
          ready: false,
          reason: `The index is ${seconds ?? "an unknown number of"} seconds behind the head.`,
        };
      }
      const differs = describeSelfAuditDifferences(audit.report());
      if (differs !== null) return { ready: false, reason: differs };
      return { ready: true, details: selfAuditDetails(audit.report()) };
    },
  };
}

function progressLine(
  { from, to, startedMs, logs }: { from: number; to: number; startedMs: number; logs: number },
  at: number,
  nowMs: number,
): string {
  const seconds = Math.max(0.001, (nowMs - startedMs) / 1000);
  const share = (at - from + 1) / Math.max(1, to - from + 1);
  const left = Math.round(seconds / share - seconds);
  const rate = Math.round(logs / seconds).toLocaleString("en");
  return `History: block ${at} of ${to} (${(share * 100).toFixed(1)} %), ${logs.toLocaleString("en")} events, ${rate} a second, ${left} s left`;
}

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
