// The audit report as text: one line per table, then the first differences.
import type { BlockSummary } from "../schema/chain-log.ts";
import type { TableAuditResult } from "./table.ts";

export type AuditReport = {
  readonly network: string;
  readonly block: BlockSummary;
  readonly indexed: number;
  readonly results: readonly TableAuditResult[];
};

// Enough to see a pattern and which tables are affected.
const DETAILS_MAX = 20;
// The length of a 0x-prefixed hash; longer texts are cut.
const CELL_LENGTH_MAX = 66;

export function countDifferences(report: AuditReport): number {
  return report.results.reduce((sum, { differences }) => sum + differences, 0);
}

export function formatAuditReport(report: AuditReport): string {
  const { network, block, indexed, results } = report;
  const total = countDifferences(report);
  const head = `Audit of ${network} at block ${block.number} (${block.hash}); indexed up to ${indexed}.`;
  return [head, "", ...overview(results), "", ...details(results, total), ""].join("\n");
}

function overview(results: readonly TableAuditResult[]): string[] {
  const compared = results.reduce((sum, each) => sum + each.compared, 0);
  const differences = results.reduce((sum, each) => sum + each.differences, 0);
  return aligned(
    ["table", "rows", "differences", "note"],
    [
      ...results.map((each) => [
        each.table,
        each.compared.toLocaleString("en"),
        each.differences.toLocaleString("en"),
        each.notes.join("; "),
      ]),
      ["all", compared.toLocaleString("en"), differences.toLocaleString("en"), ""],
    ],
    [1, 2],
  );
}

function details(results: readonly TableAuditResult[], total: number): string[] {
  if (total === 0) return ["No difference."];
  const lines = results.flatMap(({ table, firstDifferences }) =>
    firstDifferences.map(({ key, column, found, expected, source }) => [
      table,
      key,
      column,
      found,
      expected,
      source,
    ]),
  );
  const shown = lines.slice(0, DETAILS_MAX).map((line) => line.map(cell));
  const heading =
    total === 1
      ? "1 difference:"
      : `${total.toLocaleString("en")} differences${shown.length < total ? `, of which the first ${shown.length}` : ""}:`;
  return [
    heading,
    "",
    ...aligned(["table", "key", "column", "in the index", "should be", "according to"], shown, []),
  ];
}

/** Text from the chain may contain terminal control characters. */
function cell(text: string): string {
  const harmless = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
  return harmless.length > CELL_LENGTH_MAX ? `${harmless.slice(0, CELL_LENGTH_MAX - 1)}…` : harmless;
}

function aligned(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightAligned: readonly number[],
): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  return [head, ...rows].map((row) =>
    row
      .map((text, column) => {
        const width = widths[column] ?? 0;
        return rightAligned.includes(column) ? text.padStart(width) : text.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
}
