// The last run of each suite in this checkout: what it proved, what it cost, and which files are unstable.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Failure, MeasuredFile } from "./run-report.ts";
import { SUITES, type SuiteName } from "./suites.ts";

// Not committed: it describes this machine. One file a suite, so that two suites can run at once.
const FOLDER = "node_modules/.cache/sextant/test-runs";

// A busy machine takes a quarter longer for the same work; half as much again is due to the tests.
const OVERRUN_MAX = 1.5;

export type SuiteRun = {
  readonly suite: SuiteName;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly wallSeconds: number;
  /** Spent by every process that the run started and waited for. */
  readonly processorSeconds: number;
  /** How much slower than the machine of the budgets this one was at that time; see machine-speed.ts. */
  readonly slowness: number;
  /** Files that failed and then passed with the same seed. */
  readonly unstable: readonly string[];
  /** The failures of the first run, unstable files included. */
  readonly failures: readonly Failure[];
  readonly files: readonly MeasuredFile[];
};

export function recordRun(run: SuiteRun): void {
  mkdirSync(FOLDER, { recursive: true });
  const unfinished = `${FOLDER}/${run.suite}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(run));
  // At once: a check that reads it meanwhile sees a whole file.
  renameSync(unfinished, fileOf(run.suite));
}

export function readRuns(): readonly SuiteRun[] {
  return (Object.keys(SUITES) as SuiteName[]).flatMap((suite) => findRun(suite) ?? []);
}

/** Undefined if the suite has not run. */
export function findRun(suite: SuiteName): SuiteRun | undefined {
  const file = fileOf(suite);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SuiteRun) : undefined;
}

/** Before a landing, which runs the suites again: its checks must not fail for what an earlier run cost. */
export function forgetRuns(): void {
  rmSync(FOLDER, { recursive: true, force: true });
}

function fileOf(suite: SuiteName): string {
  return `${FOLDER}/${suite}.json`;
}

/** Overruns of the last runs; deep has no budget here, because it takes the minutes that it is given. */
export function findRecordedOverruns(): string[] {
  return findOverruns(readRuns().filter(({ suite }) => suite !== "deep"));
}

/** One sentence for each suite that took far more processor time than its budget. */
export function findOverruns(runs: readonly SuiteRun[]): string[] {
  return runs.flatMap(({ suite, processorSeconds, slowness }) => {
    const { budgetSeconds } = SUITES[suite];
    const seconds = processorSeconds / slowness;
    if (seconds <= budgetSeconds * OVERRUN_MAX) return [];
    return [
      `${suite} took ${Math.round(seconds)} processor seconds, its budget is ${budgetSeconds}: make its tests cheaper (npm run test:times names them), or change the budget in scripts/testing/suites.ts with a reason. The next run of the suite replaces this one.`,
    ];
  });
}
