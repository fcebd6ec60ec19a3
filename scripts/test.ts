// What `npm test` runs: the checks, every test, and a closing line that counts both.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium, WITHOUT_CHROMIUM } from "../tests/support/find-chromium.ts";
import { check } from "./checks.ts";

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; name: string }[];
};

const started = performance.now();
const checked = check();

const folder = mkdtempSync(join(tmpdir(), "sextant-test-"));
const reportFile = join(folder, "report.json");
const tests = spawnSync(
  "node_modules/.bin/vitest",
  [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
);
const report = readReport(reportFile);
rmSync(folder, { recursive: true, force: true });

// A file that fails to load has no test in it that could count; it counts as one failure itself.
const unloaded = report.testResults.filter(({ status }) => status === "failed").length;
const failedTests = Math.max(report.numFailedTests, unloaded, tests.status === 0 ? 0 : 1);
const passed = report.numPassedTests + (checked ? 1 : 0);
const failed = failedTests + (checked ? 0 : 1);

process.stdout.write("\n");
if (findChromium(process.env.PATH ?? "") === null) process.stdout.write(WITHOUT_CHROMIUM);
process.stdout.write(`finished in ${Math.round((performance.now() - started) / 1000)} s\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    return { numPassedTests: 0, numFailedTests: 1, testResults: [] };
  }
}
