// Type-checks a project by the native compiler: its report is the same, its CPU time a quarter.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// The compiler by its path: the one that other tools load owns the name tsc in node_modules/.bin.
const COMPILER = fileURLToPath(new URL("../../../node_modules/typescript-native/bin/tsc", import.meta.url));

/** The compiler's report; null when it accepts everything. */
export function findTypeErrors(project: string, ...options: readonly string[]): string | null {
  // Several checkers do part of the work twice, and the tests that run at the same time have work for every core.
  const args = [COMPILER, "--project", project, "--noEmit", "--singleThreaded", ...options];
  const { error, status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) return `the compiler could not be started: ${error.message}`;
  return status === 0 ? null : stdout + stderr;
}
