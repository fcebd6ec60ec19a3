// The end of a run in one table: what happened how often, what was checked, and what was wrong.

import type { SoakResult } from "./run-soak.ts";
import { FACILITATOR_LIES } from "./services/lying-facilitator.ts";

/** In this order, also when something did not happen at all. */
const COUNTS = [
  "events indexed",
  "simulator steps",
  "lists read",
  "records read",
  "past read",
  "pages read",
  "analytics read",
  "quick reads",
  "documents written",
  "metadata written",
  "writes read",
  "payments",
  "payments rejected",
  "payers without a response",
  "repeated responses",
  "responses fetched later",
  "payments lost to reorgs",
  "kills",
  "graceful shutdowns",
  "freezes",
  "failed starts",
  "database restarts",
  "RPC faults",
  "lagging responses",
  "responses with logs omitted",
  "excessive fees suggested",
  "payments front-run",
  "payments carried out by others",
  "requests over money that moves on",
  "worthless payments rejected",
  "worthless payments limited",
  "transfers reverted",
  ...FACILITATOR_LIES.map((lie) => `lies: ${lie}`),
  "connections lost",
  "responses 503 in an outage",
];

export type Colorize = (colour: "green" | "red", text: string) => string;

export const noColor: Colorize = (_, text) => text;

export function formatSoakSummary(result: SoakResult, paint: Colorize): string {
  const { observations, checks, seed, seconds, ok } = result;
  const others = [...observations.counts.keys()].filter((kind) => !COUNTS.includes(kind));
  const counted = [...COUNTS, ...others].map((kind): [string, string] => [
    kind,
    String(observations.counted(kind)),
  ]);
  const rows: [string, string][] = [
    ...counted,
    ["reorgs", String(result.reorgs)],
    ["differences", String(observations.violationCount)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length), ...checks.map(({ name }) => name.length));
  const lines = [
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value.padStart(9)}`),
    "",
    ...checks.map(
      (each) =>
        `  ${each.name.padEnd(width)}  ${each.ok ? paint("green", "ok") : paint("red", "WRONG")}  ${each.message}`,
    ),
    ...observations.violations.map((what) => paint("red", `  ${what}`)),
  ];
  const verdict = ok ? paint("green", "all is well") : paint("red", "something is wrong");
  return `${lines.join("\n")}\n\nseed ${seed}, ${seconds} s: ${verdict}\n`;
}
