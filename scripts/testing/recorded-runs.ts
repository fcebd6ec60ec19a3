// The last run of each suite in this checkout: what it proved, what it cost, and which files are unstable.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { MeasuredFile } from "./run-report.ts";
import { SUITES, type SuiteName } from "./suites.ts";

// Not committed: it describes this machine.
const FILE = "node_modules/.cache/sextant/test-runs.json";

// A busy machine takes a quarter longer for the same work; half as much again is due to the tests.
const OVERRUN_MAX = 1.5;

export type SuiteRun = {
  readonly suite: SuiteName;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly wallSeconds: number;
  /** Of every process that the run started and waited for. */
  readonly processorSeconds: number;
  /** How much slower than the machine of the budgets this one was at that time; see machine-speed.ts. */
  readonly slowness: number;
  /** Files that failed and then passed with the same seed. */
  readonly unstable: readonly string[];
  readonly files: readonly MeasuredFile[];
};

export function recordRun(run: SuiteRun): void {
  mkdirSync(dirname(FILE), { recursive: true });
  const others = readRuns().filter(({ suite }) => suite !== run.suite);
  writeFileSync(FILE, JSON.stringify([...others, run]));
}

/** In the order in which the suites last ran. */
export function readRuns(): readonly SuiteRun[] {
  if (!existsSync(FILE)) return [];
  return JSON.parse(readFileSync(FILE, "utf8")) as SuiteRun[];
}

/** One sentence for each suite that took far more processor time than its budget. */
export function findOverruns(runs: readonly SuiteRun[]): string[] {
  return runs.flatMap(({ suite, processorSeconds, slowness }) => {
    const { budgetSeconds } = SUITES[suite];
    const seconds = processorSeconds / slowness;
    if (seconds <= budgetSeconds * OVERRUN_MAX) return [];
    return [
      `${suite} took ${Math.round(seconds)} processor seconds, its budget is ${budgetSeconds}: make its tests cheaper (npm run test:times names them), or change the budget in scripts/testing/suites.ts with a reason.`,
    ];
  });
}
