// One record for people: a line per field, nested ones indented, whole values that can be copied.
import type { Display } from "./display.ts";
import { toPlainText, widestOf, widthOf } from "./plain-text.ts";

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
    return [`${indent}${label}${blanks}  ${formatValue(value)}`.trimEnd()];
  });
}

function formatNested(value: Fields | readonly unknown[], display: Display, depth: number): string[] {
  const indent = "  ".repeat(depth);
  if (depth > DEPTH_MAX) return [`${indent}… (more with --json)`];
  if (!Array.isArray(value)) return formatRecord(value as Fields, display, depth);
  return value.flatMap((each) => {
    if (!isNested(each)) return [`${indent}- ${formatValue(each)}`];
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
