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

/** In lines of at most so many columns; null for a file or a program, which get whole rows. */
export function formatAuditReport(report: AuditReport, columns: number | null = null): string {
  const { network, block, indexed, results } = report;
  const total = countDifferences(report);
  const head =
    columns === null
      ? [`Audit of ${network} at block ${block.number} (${block.hash}); indexed up to ${indexed}.`]
      : [`Audit of ${network} at block ${block.number}; indexed up to ${indexed}.`, `Hash ${block.hash}`];
  const lines = [...head, "", ...overview(results, columns), "", ...details(results, total, columns), ""];
  return lines.join("\n");
}

function overview(results: readonly TableAuditResult[], columns: number | null): string[] {
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
    columns,
  );
}

function details(results: readonly TableAuditResult[], total: number, columns: number | null): string[] {
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
  if (columns === null) return [heading, "", ...aligned([...FIELDS], shown, [])];
  // Both values may be hashes, which no terminal has next to each other.
  const blocks = shown.map(([table, key, column, ...values]) => [
    "",
    ...wrapWords(`${table} ${key}: ${column}`, columns),
    ...aligned(
      ["", ""],
      values.map((value, index) => [`${FIELDS[index + 3]}`, value]),
      [],
      columns,
    ).slice(1),
  ]);
  return [heading, ...blocks.flat()];
}

const FIELDS = ["table", "key", "column", "in the index", "should be", "according to"] as const;

/** Text from the chain may contain terminal control characters. */
function cell(text: string): string {
  const harmless = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
  return harmless.length > CELL_LENGTH_MAX ? `${harmless.slice(0, CELL_LENGTH_MAX - 1)}…` : harmless;
}

/** The last column goes on below itself if it does not fit; its long words stay whole. */
function aligned(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightAligned: readonly number[],
  available: number | null = null,
): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return [head, ...rows].flatMap((row) => {
    const cells = row.slice(0, -1).map((text, column) => {
      const width = widths[column] ?? 0;
      return rightAligned.includes(column) ? text.padStart(width) : text.padEnd(width);
    });
    const last = row.at(-1) ?? "";
    const [first = "", ...others] = available === null ? [last] : wrapWords(last, available - start);
    return [[...cells, first].join("  ").trimEnd(), ...others.map((line) => " ".repeat(start) + line)];
  });
}

function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const joined = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && joined.length <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}
