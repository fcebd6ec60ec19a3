// `npm run test:chaos`: long runs under kills, reorgs, restarts and faulty nodes (*.chaos.test.ts).
// Tests of which `npm test` runs a part (tests/support/test-depth.ts) run here in full.
import { formatDurations } from "./testing/format-durations.ts";
import { runVitest } from "./testing/run-vitest.ts";

const { passed, failed, files } = await runVitest({ suites: ["chaos"], args: process.argv.slice(2) });
process.stdout.write(`\n${formatDurations(files)}\nchaos: ${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
