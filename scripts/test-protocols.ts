// `npm run test:protocols`: the portfolio's readers and price sources against the contracts of other projects.
// Those come from npm packages of hundreds of megabytes, which nothing else needs: they are installed here.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { formatDurations } from "./testing/format-durations.ts";
import { runVitest } from "./testing/run-vitest.ts";

const FOLDER = "tests/protocols";

/** npm writes this file into node_modules at the end of an install. */
const installed = `${FOLDER}/node_modules/.package-lock.json`;
const isCurrent =
  existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${FOLDER}/package-lock.json`).mtimeMs;
if (!isCurrent) {
  process.stdout.write("Installing the published contracts of other projects (about 270 MB) …\n");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--workspaces=false"], {
    cwd: FOLDER,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the contracts could not be installed");
}
const { passed, failed, files } = await runVitest({ suites: ["protocols"], args: process.argv.slice(2) });
process.stdout.write(`\n${formatDurations(files)}\nprotocols: ${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
