// The audit of one table: versions, rows against contracts and events, completeness, and recounts.
import { formatKey, type Row } from "../schema/table.ts";
import { countRowsAsOf, readRowsAsOf } from "../store/index/as-of.ts";
import {
  findAggregateMismatches,
  findInconsistentVersions,
  type IdRange,
  readIdRange,
  readIdRangesWithin,
} from "../store/index/audit-queries.ts";
import type { Checkpoint } from "../store/index/checkpoint.ts";
import { countDistinctLogs, type LogCounts } from "../store/index/raw-logs.ts";
import type { Session } from "../store/postgres/session.ts";
import type { AuditReads } from "./reads.ts";
import { areKnownToContract, compareRows, ENTIRE_ROW, type RowDifference } from "./tables/compare-rows.ts";
import type { CreationEvent, TableAudit } from "./tables/define-audit.ts";

type AuditContext = {
  readonly session: Session;
  readonly reads: AuditReads;
  readonly logCounts: LogCounts;
  readonly position: Checkpoint;
  readonly block: number;
  /** Maximum number of rows of a table to compare one by one; null for all. */
  readonly sample: number | null;
  readonly signal: AbortSignal;
  readonly onProgress: (activity: string) => void;
};

export type TableAuditResult = {
  readonly table: string;
  readonly compared: number;
  readonly differences: number;
  readonly firstDifferences: readonly RowDifference[];
  readonly notes: readonly string[];
};

// Enough to see what is wrong with a table.
const FIRST_DIFFERENCES = 20;

type Findings = { differences: number; readonly firstDifferences: RowDifference[] };

export async function auditTable(audit: TableAudit, context: AuditContext): Promise<TableAuditResult> {
  const { table } = audit;
  const { session, block, position, onProgress } = context;
  const findings: Findings = { differences: 0, firstDifferences: [] };
  const result = (compared: number, notes: readonly string[]): TableAuditResult => ({
    table: table.name,
    compared,
    ...findings,
    notes,
  });

  onProgress(`${table.name}: versions`);
  await checkVersions(audit, context, findings);
  if (table.history === "recent" && block < position.finalized) {
    return result(0, [`stored only from block ${position.finalized}`]);
  }
  const count = await countRowsAsOf(session, table, block);
  const byRow = audit.views.length > 0 || audit.creationEvents.length > 0;
  const { compared, unverifiable } = byRow
    ? await compareAll(audit, count, context, findings)
    : { compared: count, unverifiable: 0 };
  onProgress(`${table.name}: completeness and recounts`);
  if (audit.creationEvents.length > 0) await checkCount(audit, count, context, findings);
  if (audit.ids) await checkIds(audit, audit.ids, context, findings);
  if (audit.recount) await checkRecount(audit, audit.recount, context, findings);
  return result(compared, [
    ...notesOf(audit),
    ...(compared < count ? [`a sample of ${formatCount(count)} rows`] : []),
    ...(unverifiable > 0
      ? [`${formatCount(unverifiable)} unverifiable: the account does not confirm it`]
      : []),
  ]);
}

function notesOf({ views, creationEvents, recount }: TableAudit): string[] {
  return [
    ...(views.length > 0 ? [views.map(({ name }) => name).join(", ")] : []),
    ...(views.length === 0 && creationEvents.length > 0 ? ["no getter: compared with its events"] : []),
    ...(recount ? ["recounted"] : []),
  ];
}

async function compareAll(
  audit: TableAudit,
  count: number,
  { session, block, sample, reads, signal, onProgress }: AuditContext,
  findings: Findings,
): Promise<{ compared: number; unverifiable: number }> {
  let compared = 0;
  let unverifiable = 0;
  const total = formatCount(Math.min(count, sample ?? count));
  for await (const rows of readRowsAsOf(session, audit.table, { block, count, sample })) {
    signal.throwIfAborted();
    onProgress(`${audit.table.name}: ${formatCount(compared)} of ${total} rows`);
    const comparison = await compareRows(audit, rows, reads);
    addDifferences(findings, comparison.differences);
    compared += rows.length;
    unverifiable += comparison.unverifiable;
  }
  return { compared, unverifiable };
}

/** Checks that there are as many rows as the stored events say. */
async function checkCount(
  { creationEvents }: TableAudit,
  count: number,
  { session, block, reads, logCounts }: AuditContext,
  findings: Findings,
): Promise<void> {
  const addressOf = ({ anyEmitter, contract }: CreationEvent) =>
    anyEmitter ? null : reads.addressOf(contract);
  let expected = 0;
  for (const event of creationEvents) {
    const { topic0, distinctBy } = event;
    const address = addressOf(event);
    expected +=
      distinctBy || !address
        ? await countDistinctLogs(session, { topic0, address, topics: 0, words: [], ...distinctBy }, block)
        : logCounts.countOf(address, topic0);
  }
  if (expected === count) return;
  const source = "stored logs";
  addDifferences(findings, [
    { key: "(all)", column: "(rows)", found: String(count), expected: String(expected), source },
  ]);
}

/** Checks that ids have no gaps and that the contract does not know the next one. */
async function checkIds(
  audit: TableAudit,
  { column, within }: NonNullable<TableAudit["ids"]>,
  { session, block, sample, reads, signal }: AuditContext,
  findings: Findings,
): Promise<void> {
  const { table } = audit;
  if (within === null) {
    const series = await readIdRange(session, table, column, block);
    await compareIds(audit, column, [{ parent: {}, series }], reads, findings);
    return;
  }
  const count = await countRowsAsOf(session, within, block);
  for await (const parents of readRowsAsOf(session, within, { block, count, sample })) {
    signal.throwIfAborted();
    const all = await readIdRangesWithin(session, table, column, { table: within, rows: parents }, block);
    const found = all.map((series, index) => ({ parent: parents[index] ?? {}, series }));
    await compareIds(audit, column, found, reads, findings);
  }
}

async function compareIds(
  { table, views }: TableAudit,
  column: string,
  found: readonly { readonly parent: Row; readonly series: IdRange }[],
  reads: AuditReads,
  findings: Findings,
): Promise<void> {
  const [view] = views;
  if (!view) throw new Error(`${table.name} counts its ids, but has no view that knows them`);
  const nextRows = found.map(({ parent, series }): Row => ({ ...parent, [column]: series.last + 1n }));
  const known = await areKnownToContract(view, nextRows, reads);
  const source = `${view.contract}.${view.name}`;
  found.forEach(({ parent, series: { count, last } }, index) => {
    if (count !== last) {
      const key = formatKey(table.key, { ...parent, [column]: `1 to ${last}` });
      const values = { found: String(count), expected: String(last) };
      addDifferences(findings, [{ key, column: "(rows)", ...values, source: "ids without gaps" }]);
    }
    if (known[index]) {
      const key = formatKey(table.key, nextRows[index] ?? {});
      addDifferences(findings, [
        { key, column: ENTIRE_ROW, found: "is missing", expected: "is there", source },
      ]);
    }
  });
}

async function checkRecount(
  { table }: TableAudit,
  recount: NonNullable<TableAudit["recount"]>,
  { session, block }: AuditContext,
  findings: Findings,
): Promise<void> {
  const { count, first } = await findAggregateMismatches(session, table, recount, {
    block,
    limit: FIRST_DIFFERENCES,
  });
  const source = `recount of ${recount.from.map(({ name }) => name).join(", ")}`;
  addDifferences(
    findings,
    first.map((mismatch) => ({ ...mismatch, source })),
    count,
  );
}

async function checkVersions(
  { table }: TableAudit,
  { session, position }: AuditContext,
  findings: Findings,
): Promise<void> {
  const { count, first } = await findInconsistentVersions(session, table, {
    indexed: position.block.number,
    finalized: position.finalized,
    limit: FIRST_DIFFERENCES,
  });
  const differences = first.map(({ key, version, expected }) => ({
    key,
    column: "(version)",
    found: version,
    expected,
    source: "versions of the row",
  }));
  addDifferences(findings, differences, count);
}

function addDifferences(
  findings: Findings,
  differences: readonly RowDifference[],
  count = differences.length,
): void {
  findings.differences += count;
  const missing = Math.max(0, FIRST_DIFFERENCES - findings.firstDifferences.length);
  findings.firstDifferences.push(...differences.slice(0, missing));
}

function formatCount(count: number): string {
  return count.toLocaleString("en");
}
