// Runs vitest as a process of its own and counts what passed and failed.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TestCount = { readonly passed: number; readonly failed: number };

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; name: string }[];
};

export async function runVitest(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestCount> {
  const folder = mkdtempSync(join(tmpdir(), "sextant-test-"));
  const reportFile = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawn("node_modules/.bin/vitest", ["run", ...reporters, ...args], {
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const report = readReport(reportFile);
  rmSync(folder, { recursive: true, force: true });
  // A file that fails to load has no test in it that could count; it counts as one failure itself.
  const unloaded = report.testResults.filter(({ status }) => status === "failed").length;
  return {
    passed: report.numPassedTests,
    failed: Math.max(report.numFailedTests, unloaded, code === 0 ? 0 : 1),
  };
}

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    return { numPassedTests: 0, numFailedTests: 1, testResults: [] };
  }
}
