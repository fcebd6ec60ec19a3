// `npm test`: the main test suite, where the time went, and what it did not run.
import { formatDurations } from "./testing/format-durations.ts";
import { runVitest } from "./testing/run-vitest.ts";
import { recordDurations } from "./testing/test-durations.ts";

const NOT_RUN =
  "not run here: types, format, lint, unused code, OpenAPI documents and architecture rules (npm run check), chaos and all runs of property tests (npm run test:chaos), bytecode of other protocols (test:protocols), browser (test:browser), stock PostgreSQL (test:stock), upgrade (test:upgrade)";

const UPDATE_DURATIONS = "--update-durations";

const started = performance.now();
const args = process.argv.slice(2);
const tests = await runVitest({
  suites: ["main"],
  args: args.filter((argument) => argument !== UPDATE_DURATIONS),
  environment: { TEST_SHARED_HISTORY: "at once" },
});
const seconds = Math.round((performance.now() - started) / 1000);
const late = isLate(seconds);

if (args.includes(UPDATE_DURATIONS)) recordDurations(tests.files);
process.stdout.write(`\n${formatDurations(tests.files)}\n`);
if (tests.skipped > 0) process.stdout.write(`${tests.skipped} skipped on this machine\n`);
process.stdout.write(`${NOT_RUN}\n`);
process.stdout.write(`finished in ${seconds} s${late ? `, above TEST_SECONDS_MAX` : ""}\n`);
const failed = tests.failed + (late ? 1 : 0);
process.stdout.write(`${tests.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** Off by default: on a busy machine a slow run says nothing about the tests. */
function isLate(ran: number): boolean {
  const max = process.env.TEST_SECONDS_MAX;
  return max !== undefined && ran > Number(max);
}
