// Vitest reporter for our scripts: counts the tests and times the files of a run, written as JSON.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

export type TimedFile = { readonly file: string; readonly seconds: number };

export type RunSummary = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files with a failed test; null when something failed that belongs to no file. */
  readonly failedFiles: readonly string[] | null;
  /** Time in the worker, imports and hooks included; longest first. */
  readonly files: readonly TimedFile[];
};

export class RunReport implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = modules.map(countTests);
    const sum = (state: keyof TestCounts) => counts.reduce((total, count) => total + count[state], 0);
    const summary: RunSummary = {
      passed: sum("passed"),
      failed: sum("failed") + unhandledErrors.length,
      skipped: sum("skipped"),
      failedFiles: unhandledErrors.length > 0 ? null : modules.filter((module) => !module.ok()).map(pathOf),
      files: modules.map(timeFile).sort((left, right) => right.seconds - left.seconds),
    };
    writeFileSync(this.#file, JSON.stringify(summary));
  }
}

type TestCounts = { passed: number; failed: number; skipped: number };

function countTests(module: TestModule): TestCounts {
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    // A test still pending at the end of the run did not pass.
    counts[state === "pending" ? "failed" : state] += 1;
  }
  // A file that does not load, or whose hook fails, has no failed test of its own.
  if (!module.ok() && counts.failed === 0) counts.failed = 1;
  return counts;
}

function timeFile(module: TestModule): TimedFile {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  const ms = prepareDuration + setupDuration + collectDuration + duration;
  return { file: pathOf(module), seconds: Math.round(ms / 100) / 10 };
}

function pathOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId);
}
