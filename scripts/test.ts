// What `npm test` runs: the checks, every test, and a closing line that counts both.
import { findChromium, WITHOUT_CHROMIUM } from "../tests/support/find-chromium.ts";
import { runChecks } from "./checks.ts";
import { runVitest } from "./testing/run-vitest.ts";

const started = performance.now();
const checked = runChecks();
const tests = await runVitest(process.argv.slice(2));
const passed = tests.passed + (checked ? 1 : 0);
const failed = tests.failed + (checked ? 0 : 1);

process.stdout.write("\n");
if (findChromium(process.env.PATH ?? "") === null) process.stdout.write(WITHOUT_CHROMIUM);
process.stdout.write(`finished in ${Math.round((performance.now() - started) / 1000)} s\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
