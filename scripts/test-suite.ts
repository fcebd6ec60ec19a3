// `npm run test:<suite>`: one suite by its name; paths and options of vitest may follow.
import { formatFailures, formatFiles } from "./testing/format-runs.ts";
import { findMissingProgram, runSuite } from "./testing/run-suite.ts";
import { isSuiteName, SUITES } from "./testing/suites.ts";
import { readUpdateOption, recordDurations } from "./testing/test-durations.ts";

const [name = "", ...given] = process.argv.slice(2);
const { isUpdate, args } = readUpdateOption(given);
if (!isSuiteName(name)) {
  throw new Error(`There is no suite "${name}". There are ${Object.keys(SUITES).join(", ")}.`);
}
const missing = findMissingProgram(name);
if (missing === null) {
  const run = await runSuite(name, args);
  if (isUpdate && run.failed === 0) recordDurations(run.files);
  if (run.files.length > 0) process.stdout.write(`\n${formatFiles(run.files)}`);
  process.stdout.write(
    `\n${formatFailures(run.failures)}${name}: ${run.passed} passed, ${run.failed} failed\n`,
  );
  process.exitCode = run.failed === 0 ? 0 : 1;
} else {
  // It tested nothing, and must not look as if it had.
  process.stderr.write(`${missing}\n`);
  process.exitCode = 1;
}
