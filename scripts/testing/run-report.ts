// Vitest reporter for our scripts: counts the tests and times the files of a run, written as JSON.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type {} from "../../tests/support/measure-file.ts";

export type MeasuredFile = {
  readonly file: string;
  readonly tests: number;
  /** Time in the worker, imports and hooks included. */
  readonly seconds: number;
  /** Spent by the worker and the processes that it started; 0 if the file could not be loaded. */
  readonly processorSeconds: number;
  /** Part of `seconds` until its chains and databases had started. */
  readonly startUpSeconds: number;
};

export type Failure = {
  readonly file: string;
  /** The test with its groups; null when the file, a hook or something outside of all tests failed. */
  readonly title: string | null;
  readonly message: string;
};

export type RunSummary = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files with a failed test; null when something failed that belongs to no file. */
  readonly failedFiles: readonly string[] | null;
  readonly failures: readonly Failure[];
  /** The one that took the most processor time comes first. */
  readonly files: readonly MeasuredFile[];
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
      failures: [...modules.flatMap(listFailures), ...unhandledErrors.map(describeUnhandled)],
      files: modules.map(measureFile).sort((left, right) => right.processorSeconds - left.processorSeconds),
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

function listFailures(module: TestModule): Failure[] {
  const file = pathOf(module);
  const ofFile = module.errors().map(({ message }) => ({ file, title: null, message }));
  const ofTests = [...module.children.allTests()].flatMap((test) => {
    const { state, errors = [] } = test.result();
    if (state === "pending") return [{ file, title: test.fullName, message: "it had not ended" }];
    return errors.map(({ message }) => ({ file, title: test.fullName, message }));
  });
  const ofGroups = [...module.children.allSuites()].flatMap((group) =>
    group.errors().map(({ message }) => ({ file, title: group.fullName, message })),
  );
  return [...ofFile, ...ofGroups, ...ofTests];
}

function describeUnhandled(error: unknown): Failure {
  const message = error instanceof Object && "message" in error ? String(error.message) : String(error);
  return { file: "outside of all tests", title: null, message };
}

function measureFile(module: TestModule): MeasuredFile {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  const { processorSeconds = 0, startUpSeconds = 0 } = module.meta().cost ?? {};
  return {
    file: pathOf(module),
    tests: [...module.children.allTests()].length,
    seconds: (prepareDuration + setupDuration + collectDuration + duration) / 1000,
    processorSeconds,
    startUpSeconds,
  };
}

function pathOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId);
}
