// Runs vitest as a child process and returns what its reporter counted.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunSummary } from "./run-report.ts";

/** A project of vitest.config.ts. */
type TestProject =
  | "bench"
  | "main"
  | "integration"
  | "deep"
  | "chaos"
  | "contracts"
  | "protocols"
  | "browser"
  | "broker"
  | "stock"
  | "upgrade";

type VitestRun = {
  readonly projects: readonly TestProject[];
  /** Paths and options of vitest; an option has its value behind an equals sign. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

export type TestOutcome = RunSummary & {
  /** Files that failed and then passed with the same seed. */
  readonly unstable: readonly string[];
};

// A busy machine is not the reason if more than two files fail together.
const RERUN_FILES_MAX = 2;

/**
 * With TEST_RERUN_FAILED, as in CI, the files that failed run once more by themselves, with the same seed: what is wrong
 * fails again, and what only met a busy machine is named as unstable, to be repaired.
 */
export async function runVitest(run: VitestRun): Promise<TestOutcome> {
  const first = await runOnce(run);
  const files = first.failedFiles ?? [];
  const isAsked = process.env.TEST_RERUN_FAILED !== undefined;
  if (!isAsked || files.length === 0 || files.length > RERUN_FILES_MAX) return { ...first, unstable: [] };
  process.stdout.write(`\nOnce more by themselves: ${files.join(", ")}\n`);
  const options = (run.args ?? []).filter((argument) => argument.startsWith("-"));
  const second = await runOnce({ ...run, args: [...files, ...options, "--maxWorkers=1"] });
  if (second.failed > 0) return { ...first, unstable: [] };
  process.stdout.write(`\nUNSTABLE, failed and then passed with the same seed: ${files.join(", ")}\n`);
  return { ...first, passed: first.passed + first.failed, failed: 0, unstable: files };
}

async function runOnce({ projects, args = [], environment = {} }: VitestRun): Promise<RunSummary> {
  const folder = mkdtempSync(join(tmpdir(), "sextant-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const chosen = projects.map((project) => `--project=${project}`);
    const child = spawn("node_modules/.bin/vitest", ["run", ...chosen, ...args], {
      stdio: "inherit",
      env: { ...process.env, ...environment, TEST_REPORT_FILE: reportFile },
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return readReport(reportFile, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string, code: number | null): RunSummary {
  if (!existsSync(file))
    return { passed: 0, failed: 1, skipped: 0, failedFiles: null, failures: [], files: [] };
  const report = JSON.parse(readFileSync(file, "utf8")) as RunSummary;
  // Vitest may fail for a reason outside the tests, such as the global setup; and a run without a test proves nothing.
  const hasRun = code === 0 && report.passed + report.failed > 0;
  return { ...report, failed: Math.max(report.failed, hasRun ? 0 : 1) };
}

/** The outcome of several runs, as if they were one. */
export function joinOutcomes(outcomes: readonly TestOutcome[]): TestOutcome {
  const sum = (of: "passed" | "failed" | "skipped") =>
    outcomes.reduce((total, outcome) => total + outcome[of], 0);
  const failedFiles = outcomes.map((outcome) => outcome.failedFiles);
  return {
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    failedFiles: failedFiles.includes(null) ? null : failedFiles.flatMap((files) => files ?? []),
    failures: outcomes.flatMap(({ failures }) => failures),
    files: outcomes.flatMap(({ files }) => files),
    unstable: outcomes.flatMap(({ unstable }) => unstable),
  };
}
