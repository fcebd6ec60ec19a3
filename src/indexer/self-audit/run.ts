// The self-audit of the indexer: runs during indexing and compares samples of the index with the chain.
import { randomInt } from "node:crypto";
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../../chain/chains/chains.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import { readVersion } from "../../config/version.ts";
import type { Log } from "../../lib/log.ts";
import type { LogDecoder } from "../../protocol/decode-logs.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import { readIndexerStatus } from "../../store/index/checkpoint.ts";
import { insertAudit } from "../../store/index/integrity.ts";
import type { Database } from "../../store/postgres/database.ts";
import { createLogFilters } from "../chain-source.ts";
import type { IndexingReporter } from "../loop.ts";
import { type BlockDifference, createHistoryAudit, type RepairHistory } from "./history.ts";
import { createRowAudit } from "./rows.ts";
import { type AuditFinding, type AuditKind, type AuditReporter, auditContinuously } from "./schedule.ts";
import type { SelfAuditReport } from "./status.ts";
import type { BlockSpan, UnconfirmedRanges } from "./unconfirmed-ranges.ts";

type SelfAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly deployment: Deployment;
  readonly decoder: LogDecoder;
  readonly logRangeMax: number;
  readonly unconfirmed: UnconfirmedRanges;
  /** Stores the logs of final blocks again, as two nodes show them; calls `onStore` before it stores any. */
  readonly reread: (span: BlockSpan, onStore: () => void, signal: AbortSignal) => Promise<unknown>;
  /** Time between two samples; 0 turns it off. */
  readonly auditMs: number;
  readonly report: IndexingReporter & AuditReporter;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Indexes, and audits at the same time until indexing ends. Indexing begins again when the audit has repaired stored
 * logs: then the rows are stale, and `index` rebuilds them first.
 */
export async function withSelfAudit(
  options: SelfAuditOptions,
  index: (report: IndexingReporter, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // Read it before indexing starts: the first report replaces the one of the earlier process.
  const { differences, unconfirmed } = await readStoredAudit(options.database);
  for (const span of unconfirmed) options.unconfirmed.add(span);
  if (options.auditMs === 0) return index(options.report, options.signal);
  let known: readonly BlockDifference[] | null = differences;
  while (known !== null) known = await indexUntilRepaired(options, known, index);
}

/** The differences that are left after a repair; null when indexing ended without one. */
async function indexUntilRepaired(
  options: SelfAuditOptions,
  known: readonly BlockDifference[],
  index: (report: IndexingReporter, signal: AbortSignal) => Promise<void>,
): Promise<readonly BlockDifference[] | null> {
  const { report, isSynced } = trackSynced(options.report);
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, done.signal]);
  const repairs: { readonly spans: readonly BlockSpan[]; readonly left: readonly BlockDifference[] }[] = [];
  const repair: RepairHistory = async (spans, differences) => {
    const left = await repairHistory({ ...options, signal }, spans, differences);
    if (left === null) return;
    repairs.push({ spans, left });
    done.abort();
  };
  // An audit that fails to start must not end the indexer.
  const auditing = runSelfAudit({ ...options, signal, repair }, known, isSynced).catch((error) => {
    options.report.onAuditFailed("blocks", error);
  });
  try {
    await index(report, signal);
  } finally {
    done.abort();
    await auditing;
  }
  const [repaired] = repairs;
  if (!repaired || options.signal.aborted) return null;
  const { spans, left } = repaired;
  // Not ready until the rows are rebuilt and level again.
  options.report.onBackfillStart({ from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 });
  options.report.onAudited("blocks", { checked: 0, differences: left });
  options.report.onAudited("rows", { checked: 0, differences: [] });
  return left;
}

/**
 * Reads the blocks again during indexing. If one cannot be read, others may be stored already, so that the rows are
 * stale. Returns the differences that are left; null if nothing was stored, and the next audit tries again.
 */
async function repairHistory(
  { reread, unconfirmed, report, log, signal }: SelfAuditOptions,
  spans: readonly BlockSpan[],
  differences: readonly BlockDifference[],
): Promise<readonly BlockDifference[] | null> {
  let mayBeStale = false;
  const onStore = () => {
    mayBeStale = true;
  };
  log.warn(
    { component: "indexer", event: "history_repair", blocks: spans },
    "A node omitted logs of unconfirmed history; reading it again and rebuilding the rows. Streams and webhooks past these blocks do not get their restored events",
  );
  report.onAudited("blocks", { checked: 0, differences });
  try {
    for (const span of spans) {
      await reread(span, onStore, signal);
      unconfirmed.confirm(span);
    }
  } catch (error) {
    if (!signal.aborted) report.onAuditFailed("blocks", error);
    return mayBeStale ? differences : null;
  }
  return differences.filter(({ block }) => !spans.some(({ from, to }) => from <= block && block <= to));
}

/** Wraps the reporter to know whether the index is synced: audits wait while it is not. */
function trackSynced(report: IndexingReporter): { readonly report: IndexingReporter; isSynced(): boolean } {
  let synced = false;
  const marking =
    <A extends unknown[]>(next: boolean, report: (...args: A) => void) =>
    (...args: A) => {
      synced = next;
      report(...args);
    };
  return {
    isSynced: () => synced,
    report: {
      ...report,
      onBackfillStart: marking(false, report.onBackfillStart),
      onSynced: marking(true, report.onSynced),
      onFailure: marking(false, report.onFailure),
    },
  };
}

async function runSelfAudit(
  options: SelfAuditOptions & { readonly repair: RepairHistory },
  known: readonly BlockDifference[],
  isSynced: () => boolean,
): Promise<void> {
  const { rpc, database, deployment, log, signal } = options;
  const { report, settle } = recordAudits(options);
  // Nodes must not predict which blocks and rows are compared, and with which node.
  const random = () => randomInt(2 ** 32) / 2 ** 32;
  const { logsBloom } = findChainById(deployment.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  if (known.length > 0) report.onAudited("blocks", { checked: 0, differences: known });
  const checks = {
    blocks: createHistoryAudit({
      rpc,
      database,
      startBlock: deployment.startBlock,
      filters: createLogFilters(options.decoder),
      bloom: logsBloom,
      rangeMax: options.logRangeMax,
      knownDifferences: known,
      unconfirmed: options.unconfirmed,
      repair: options.repair,
      random,
      log,
    }),
    rows: createRowAudit({ rpc, database, deployment, random }),
  };
  await auditContinuously(checks, { intervalMs: options.auditMs, isSynced, report, signal });
  await settle();
}

/** Stores each comparison as well, so that a restart loses none. */
function recordAudits({ database, report, log }: SelfAuditOptions): {
  readonly report: AuditReporter;
  /** Resolves when everything is stored. */
  settle(): Promise<void>;
} {
  let stored = Promise.resolve();
  const version = readVersion();
  const store = (kind: AuditKind, { checked, differences }: AuditFinding) =>
    database
      .transaction((session) =>
        insertAudit(session, {
          source: "self",
          kind,
          block: null,
          checked,
          differences: differences.length,
          firstDifference: differences[0]?.text ?? null,
          version,
        }),
      )
      .catch((err) =>
        log.debug(
          { component: "indexer", event: "audit_not_recorded", err },
          "The result of an audit could not be stored",
        ),
      );
  return {
    report: {
      ...report,
      onAudited(kind, finding) {
        report.onAudited(kind, finding);
        // Differences that an earlier process has found are stored already.
        if (finding.checked === 0) return;
        stored = stored.then(() => store(kind, finding));
      },
    },
    settle: () => stored,
  };
}

/** The differences and unconfirmed ranges of an earlier process: a restart must not hide them. */
async function readStoredAudit(database: Database): Promise<{
  readonly differences: readonly BlockDifference[];
  readonly unconfirmed: readonly BlockSpan[];
}> {
  const stored = await readIndexerStatus(database);
  const { audit } = (stored?.report ?? {}) as { readonly audit?: Partial<SelfAuditReport> };
  const differences = audit?.differences ?? [];
  return {
    differences: differences.flatMap(({ block, text }) => (block === null ? [] : [{ block, text }])),
    unconfirmed: audit?.unconfirmed ?? [],
  };
}
