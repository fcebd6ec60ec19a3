// The totals of the index for people: counts in groups, then the days or hours in which something happened.
import { formatNumber } from "../../explorer/format.ts";
import { isJsonObject } from "../../lib/json.ts";
import type { Display } from "./display.ts";
import { joinParts, toPlainText } from "./plain-text.ts";
import { formatTime } from "./time.ts";

type Counts = Readonly<Record<string, unknown>>;

const LABEL_WIDTH = 12;
const GROUPS = {
  Agents: /^(?:agents|accounts|attestors|attestations|trust_signals)$/,
  Intents: /intents$|^(?:bids|fills|solvers)$/,
  Commerce: /^/,
} as const;

/** Null for a response of another form. */
export function formatTotals({ totals, interval, series }: Counts, display: Display): string[] | null {
  if (!isJsonObject(totals) || !Array.isArray(series) || !series.every(isJsonObject)) return null;
  let rest = Object.entries(totals);
  const groups = Object.entries(GROUPS).flatMap(([label, names]) => {
    const group = rest.filter(([name]) => names.test(name));
    rest = rest.filter((each) => !group.includes(each));
    return formatLine(label, describeCounts(group), display);
  });
  const zeros = Object.entries(totals).filter(([, count]) => count === "0");
  const word = interval === "hour" ? "hour" : "day";
  const active = series.filter(
    ({ start: _, ...counts }) => describeCounts(Object.entries(counts)).length > 0,
  );
  const idle = series.length - active.length;
  return [
    ...groups,
    ...formatLine(
      `${zeros.length} at zero`,
      zeros.map(([name]) => toWords(name)),
      display,
    ),
    "",
    display.style("bold", word === "day" ? "By day, in UTC" : "By hour, in UTC"),
    ...active.flatMap(({ start, ...counts }) => {
      const time = formatTime(String(start)).slice(0, word === "day" ? 10 : 16);
      return formatLine(time, describeCounts(Object.entries(counts)), display);
    }),
    ...(idle > 0 ? [`${idle} of ${series.length} ${word}s have nothing.`] : []),
  ];
}

/** Nothing for nothing. */
function formatLine(label: string, parts: readonly string[], display: Display): string[] {
  if (parts.length === 0) return [];
  const column = Math.max(LABEL_WIDTH, label.length + 2);
  const listed = parts.map((part, index) => (index === parts.length - 1 ? part : `${part},`));
  const lines = joinParts(listed, " ", (display.columns ?? Number.POSITIVE_INFINITY) - column);
  const head = display.style("dim", toPlainText(label)) + " ".repeat(column - label.length);
  return lines.map((line, index) => (index === 0 ? head : " ".repeat(column)) + line);
}

/** Without those that are zero. */
function describeCounts(counts: readonly (readonly [string, unknown])[]): string[] {
  return counts
    .filter(([, count]) => count !== "0")
    .map(([name, count]) => {
      const words = toWords(name);
      return `${formatNumber(toPlainText(String(count))).text} ${count === "1" ? words.replace(/s$/, "") : words}`;
    });
}

function toWords(name: string): string {
  return toPlainText(name).replaceAll("_", " ");
}
