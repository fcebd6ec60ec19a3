// `npm run test:browser`: the pages in a real Chromium. Without one it fails, because it tested nothing.
import { findChromium } from "../tests/support/find-chromium.ts";
import { runVitest } from "./testing/run-vitest.ts";

if (findChromium(process.env.PATH ?? "") === null) {
  process.stderr.write("No Chromium on the path. Install one (Debian: apt-get install chromium).\n");
  process.exitCode = 1;
} else {
  const { passed, failed } = await runVitest({ suites: ["browser"], args: process.argv.slice(2) });
  process.stdout.write(`\nbrowser: ${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
