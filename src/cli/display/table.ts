// Tables for people: aligned columns that fit the terminal, or whole values if the output is not a terminal.
import type { Display } from "./display.ts";
import { fitText, SHORT_HEX, shortenText, toPlainText, widestOf, widthOf } from "./plain-text.ts";

export type TableColumn = {
  readonly title: string;
  /** A number whose digits must not be cut. */
  readonly isWhole?: true;
  readonly align?: "right";
};

/** Fixed after the first page of a list, so that the following ones line up. */
export type TableLayout = {
  readonly columns: readonly TableColumn[];
  /** The widths of the columns that are shown. */
  readonly widths: readonly number[];
  /** Whether longer values are cut, to fit the terminal. */
  readonly isNarrow: boolean;
};

const GAP = 2;

/** Narrows the widest columns until the table fits, then leaves out the last ones. */
export function layOutTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  available: number | null,
): TableLayout {
  const contents = columns.map((_, index) => widestOf(rows.map((row) => cellOf(row, index))));
  const widths = columns.map(({ title }, index) => Math.max(widthOf(title), contents[index] ?? 0));
  if (available === null) return { columns, widths, isNarrow: false };
  const least = columns.map(({ title, isWhole }, index) => {
    const content = contents[index] ?? 0;
    return Math.max(widthOf(title), isWhole ? content : Math.min(content, SHORT_HEX));
  });
  let count = columns.length;
  while (count > 1 && totalOf(least.slice(0, count)) > available) count -= 1;
  const shown = widths.slice(0, count);
  for (let surplus = totalOf(shown) - available; surplus > 0; surplus -= 1) {
    const widest = shown.reduce(
      (best, width, index) =>
        width > (least[index] ?? 0) && (best === -1 || width > (shown[best] ?? 0)) ? index : best,
      -1,
    );
    if (widest === -1) break;
    shown[widest] = (shown[widest] ?? 0) - 1;
  }
  return { columns: columns.slice(0, count), widths: shown, isNarrow: true };
}

export function formatHead(layout: TableLayout, display: Pick<Display, "style">): string {
  const titles = layout.columns.map(({ title }) => title);
  return display.style("dim", formatCells(layout, titles));
}

export function formatRow(layout: TableLayout, row: readonly string[]): string {
  const cells = layout.columns.map((_, index) => cellOf(row, index));
  return formatCells(layout, cells);
}

/** A column, and what a record has in it. */
export type TableField<T> = TableColumn & { readonly cell: (record: T) => string };

/** Title, head and a row for each record; nothing without records. */
export function formatSection<T>(
  title: string,
  fields: readonly TableField<T>[],
  records: readonly T[],
  display: Display,
): string[] {
  if (records.length === 0) return [];
  const rows = records.map((record) => fields.map(({ cell }) => cell(record)));
  return ["", display.style("bold", title), ...formatRows(fields, rows, display, "  ")];
}

/** Head, rows and what is hidden. */
export function formatRows(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  display: Pick<Display, "columns" | "style">,
  indent: string,
): string[] {
  const available = display.columns === null ? null : display.columns - indent.length;
  const layout = layOutTable(columns, rows, available);
  return [
    `${indent}${formatHead(layout, display)}`,
    ...rows.map((row) => `${indent}${formatRow(layout, row)}`.trimEnd()),
    ...describeHidden(columns, layout)
      .flatMap((text) => fitText(text, display.columns, indent.length))
      .map((line) => `${indent}${display.style("dim", line)}`),
  ];
}

/** Lines about the columns that the terminal has no room for; columns of marks have no title. */
function describeHidden(columns: readonly TableColumn[], layout: TableLayout): string[] {
  const hidden = listHidden(columns, layout);
  return hidden.length === 0 ? [] : [`hidden: ${hidden.join(", ")}; see --json`];
}

export function listHidden(columns: readonly TableColumn[], { columns: shown }: TableLayout): string[] {
  return columns.slice(shown.length).flatMap(({ title }) => (title === "" ? [] : [title]));
}

function formatCells({ columns, widths, isNarrow }: TableLayout, cells: readonly string[]): string {
  const padded = cells.map((cell, index) => {
    const width = widths[index] ?? 0;
    // A later page may have longer numbers: they stay whole, and their line is longer.
    const text = isNarrow && columns[index]?.isWhole !== true ? shortenText(cell, width) : cell;
    const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
    return columns[index]?.align === "right" ? blanks + text : text + blanks;
  });
  return padded.join(" ".repeat(GAP)).trimEnd();
}

function cellOf(row: readonly string[], index: number): string {
  return toPlainText(row[index] ?? "");
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1);
}
