// Formats what test runs proved and cost: tables by suite and by file, and what failed.
import { stripVTControlCharacters } from "node:util";
import type { SuiteRun } from "./recorded-runs.ts";
import type { Failure, MeasuredFile } from "./run-report.ts";
import { SUITES } from "./suites.ts";

const FILES_SHOWN = 20;
const MESSAGE_LINES_SHOWN = 6;

/** One line for each suite: tests, wall seconds, processor seconds, share of all, budget. Suites may run together. */
export function formatSuites(runs: readonly SuiteRun[], wallSecondsOfAll: number): string {
  const all = runs.reduce((sum, run) => sum + run.processorSeconds, 0);
  return formatTable([
    ["suite", "tests", "failed", "wall s", "processor s", "share", "budget s"],
    ...runs.map(({ suite, passed, failed, wallSeconds, processorSeconds }) => [
      suite,
      String(passed + failed),
      String(failed),
      wallSeconds.toFixed(0),
      processorSeconds.toFixed(0),
      `${((100 * processorSeconds) / (all || 1)).toFixed(0)} %`,
      String(SUITES[suite].budgetSeconds),
    ]),
    ["all", "", "", wallSecondsOfAll.toFixed(0), all.toFixed(0), "", ""],
  ]);
}

/** The most expensive files, with their start-up apart, and the sum of all. */
export function formatFiles(files: readonly MeasuredFile[]): string {
  const sorted = [...files].sort((left, right) => right.processorSeconds - left.processorSeconds);
  const sum = (of: "tests" | "seconds" | "processorSeconds" | "startUpSeconds") =>
    files.reduce((total, file) => total + file[of], 0);
  return formatTable([
    ["file", "tests", "processor s", "wall s", "start-up s"],
    ...sorted.slice(0, FILES_SHOWN).map((file) => formatFile(file.file, file)),
    formatFile(`all ${files.length} files`, {
      tests: sum("tests"),
      seconds: sum("seconds"),
      processorSeconds: sum("processorSeconds"),
      startUpSeconds: sum("startUpSeconds"),
    }),
  ]);
}

/** One paragraph for each: the end of a log is what people read, and the only part that some systems keep. */
export function formatFailures(failures: readonly Failure[]): string {
  return failures
    .flatMap(({ file, title, message }) => {
      const lines = stripVTControlCharacters(message).split("\n").slice(0, MESSAGE_LINES_SHOWN);
      return [title === null ? file : `${file} > ${title}`, ...lines.map((line) => `    ${line}`)];
    })
    .map((line) => `${line}\n`)
    .join("");
}

function formatFile(name: string, file: Omit<MeasuredFile, "file">): string[] {
  const { tests, processorSeconds, seconds, startUpSeconds } = file;
  return [
    name,
    String(tests),
    ...[processorSeconds, seconds, startUpSeconds].map((value) => value.toFixed(1)),
  ];
}

/** The first column to the left, numbers to the right. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
