// Runs vitest as a child process and returns what its reporter counted.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunSummary } from "./run-report.ts";

type TestSuite = "main" | "chaos" | "protocols" | "browser" | "broker" | "upgrade";

type VitestRun = {
  readonly suites: readonly TestSuite[];
  /** Paths and options of vitest. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

export async function runVitest({ suites, args = [], environment = {} }: VitestRun): Promise<RunSummary> {
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
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0, files: [] };
  const report = JSON.parse(readFileSync(file, "utf8")) as RunSummary;
  // Vitest may fail for a reason that is no test's: global setup, or no test at all.
  return { ...report, failed: Math.max(report.failed, code === 0 ? 0 : 1) };
}
