// Runs vitest as a child process and returns what its reporter counted.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunSummary } from "./run-report.ts";

type TestSuite = "main" | "chaos" | "protocols" | "browser" | "broker" | "upgrade";

type VitestRun = {
  readonly suites: readonly TestSuite[];
  /** Paths and options of vitest; an option has its value behind an equals sign. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

// More than two files that fail together are no accident of a busy machine.
const RERUN_FILES_MAX = 2;

/**
 * With TEST_RERUN_FAILED, as in CI, the files that failed run once more by themselves, with the same seed: what is wrong
 * fails again, and what only met a busy machine is named as unstable, to be repaired.
 */
export async function runVitest(run: VitestRun): Promise<RunSummary> {
  const first = await runOnce(run);
  const files = first.failedFiles ?? [];
  const isAsked = process.env.TEST_RERUN_FAILED !== undefined;
  if (!isAsked || files.length === 0 || files.length > RERUN_FILES_MAX) return first;
  process.stdout.write(`\nOnce more by themselves: ${files.join(", ")}\n`);
  const options = (run.args ?? []).filter((argument) => argument.startsWith("-"));
  const second = await runOnce({ ...run, args: [...files, ...options, "--maxWorkers=1"] });
  if (second.failed > 0) return first;
  process.stdout.write(`\nUNSTABLE, failed and then passed with the same seed: ${files.join(", ")}\n`);
  return { ...first, passed: first.passed + first.failed, failed: 0 };
}

async function runOnce({ suites, args = [], environment = {} }: VitestRun): Promise<RunSummary> {
  const folder = mkdtempSync(join(tmpdir(), "sextant-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const projects = suites.map((suite) => `--project=${suite}`);
    const child = spawn("node_modules/.bin/vitest", ["run", ...projects, ...args], {
      stdio: "inherit",
      env: { ...process.env, ...environment, TEST_REPORT_FILE: reportFile },
    });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return readReport(reportFile, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string, code: number | null): RunSummary {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0, failedFiles: null, files: [] };
  const report = JSON.parse(readFileSync(file, "utf8")) as RunSummary;
  // Vitest may fail for a reason that is no test's: global setup, or no test at all.
  return { ...report, failed: Math.max(report.failed, code === 0 ? 0 : 1) };
}
