// `npm test`: the main suite, what its files cost, and the suites that it leaves out.
import { formatFailures, formatFiles } from "./testing/format-runs.ts";
import { runSuite } from "./testing/run-suite.ts";
import { SUITES } from "./testing/suites.ts";
import { readUpdateOption, recordDurations } from "./testing/test-durations.ts";

const { isUpdate, args } = readUpdateOption(process.argv.slice(2));
const run = await runSuite("main", args);
if (isUpdate && run.failed === 0) recordDurations(run.files);
process.stdout.write(`\n${formatFiles(run.files)}\n`);
if (run.skipped > 0) process.stdout.write(`${run.skipped} skipped on this machine\n`);
process.stdout.write(`not run here:\n${formatOthers()}`);
process.stdout.write(
  `finished in ${Math.round(run.wallSeconds)} s, ${Math.round(run.processorSeconds)} processor seconds\n`,
);
process.stdout.write(`${formatFailures(run.failures)}${run.passed} passed, ${run.failed} failed\n`);
process.exitCode = run.failed === 0 ? 0 : 1;

/** Every other suite by its command, so that none is forgotten. */
function formatOthers(): string {
  return Object.entries(SUITES)
    .filter(([name]) => name !== "main")
    .map(([name, { reason }]) => `  npm run ${name === "check" ? name : `test:${name}`}  ${reason}\n`)
    .join("");
}
