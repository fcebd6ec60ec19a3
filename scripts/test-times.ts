// `npm run test:times`: what the last run of each suite in this checkout cost, and the most expensive files of all.
import { formatFiles, formatSuites } from "./testing/format-runs.ts";
import { findRecordedOverruns, readRuns } from "./testing/recorded-runs.ts";

const runs = readRuns();
if (runs.length === 0) {
  process.stdout.write("No suite has run in this checkout. Run `npm test` first.\n");
} else {
  const wallSeconds = runs.reduce((sum, run) => sum + run.wallSeconds, 0);
  process.stdout.write(
    `${formatSuites(runs, wallSeconds)}\n${formatFiles(runs.flatMap(({ files }) => files))}`,
  );
  for (const sentence of findRecordedOverruns()) process.stdout.write(`\n${sentence}\n`);
}
