// One record for people: a line per field, nested ones indented, lists of records as tables.
import type { Display } from "./display.ts";
import { fitText, toPlainText, widestOf, widthOf } from "./plain-text.ts";
import { formatDollars } from "./receipt.ts";
import { formatRows } from "./table.ts";
import { formatTime } from "./time.ts";

type Fields = Readonly<Record<string, unknown>>;

// Deeper values are left out: a hostile response must not exhaust the stack.
const DEPTH_MAX = 8;

export function formatRecord(record: Fields, display: Display, depth = 0): string[] {
  const indent = "  ".repeat(depth);
  const entries = Object.entries(record).map(([name, value]) => [toPlainText(name), value] as const);
  const width = widestOf(entries.filter(([, value]) => !isNested(value)).map(([name]) => name));
  return entries.flatMap(([name, value]) => {
    const label = display.style("dim", name);
    if (isNested(value)) {
      return [`${indent}${label}`, ...formatNested(value, display, depth + 1)];
    }
    const blanks = " ".repeat(Math.max(0, width - widthOf(name)));
    const column = indent.length + width + 2;
    const text = formatField(name, value);
    const [first = "", ...rest] = fitText(text, display.columns, column);
    // A hash that does not fit next to its name has a line of its own, so that it can be copied.
    if (rest.length === 0 && display.columns !== null && column + widthOf(text) > display.columns) {
      return [`${indent}${label}`, `${indent}  ${text}`];
    }
    return [
      `${indent}${label}${blanks}  ${first}`.trimEnd(),
      ...rest.map((line) => " ".repeat(column) + line),
    ];
  });
}

/** Fields that have a time. */
export const TIME_NAME =
  /(?:^|_)(?:timestamp|deadline|valid_until|start|time|(?:created|updated|expires|resets)_at)$|Timestamp$/;
// Seconds from 2001 on, or ISO 8601: other numbers are blocks or counts.
const TIME = /^(?:\d{10,11}|\d{4}-\d{2}-\d{2}T[\d:.]+Z)$/;

/** As a cell: times and dollars as people write them, everything else as the API has it. */
export function formatField(name: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number") {
    if (TIME_NAME.test(name) && TIME.test(String(value))) return formatTime(String(value));
    if (/Usd$|_usd$/.test(name)) return formatDollars(String(value));
  }
  return formatValue(value);
}

/** The columns of a list of records that have no records in them; null for any other list. */
function findColumns(list: readonly unknown[]): readonly string[] | null {
  const isFlat = (each: unknown): each is Fields =>
    isNested(each) && !Array.isArray(each) && !Object.values(each).some(isNested);
  if (!list.every(isFlat)) return null;
  return [...new Set(list.flatMap((each) => Object.keys(each)))];
}

function formatNested(value: Fields | readonly unknown[], display: Display, depth: number): string[] {
  const indent = "  ".repeat(depth);
  if (depth > DEPTH_MAX) return [`${indent}… (more with --json)`];
  if (!Array.isArray(value)) return formatRecord(value as Fields, display, depth);
  const names = findColumns(value);
  if (names !== null) {
    const columns = names.map((name) => ({
      title: toPlainText(name),
      ...(TIME_NAME.test(name) ? { isWhole: true as const } : {}),
    }));
    const rows = value.map((each) => names.map((name) => formatField(name, each[name])));
    return formatRows(columns, rows, display, indent);
  }
  return value.flatMap((each) => {
    if (!isNested(each)) {
      const lines = fitText(formatValue(each), display.columns, indent.length + 2);
      return lines.map((line, index) => `${indent}${index === 0 ? "- " : "  "}${line}`);
    }
    const [first = "", ...rest] = formatNested(each, display, depth + 1);
    return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
  });
}

function isNested(value: unknown): value is Fields | readonly unknown[] {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length > 0;
}

/** As a cell: null is a dash, since it means unknown or none. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return toPlainText(value);
  if (typeof value === "object") return Object.keys(value).length === 0 ? "none" : "…";
  return toPlainText(String(value));
}
