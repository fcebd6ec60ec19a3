// `npm run test:landing`: what must pass before a change lands. `npm run test:all` is the same with nothing left out.
// Suites that start processes run the files that can reach a change since the last landed version, and a tenth of the rest.
import { givenSeed } from "../tests/support/seeded-random.ts";
import { formatFailures, formatFiles, formatSuites } from "./testing/format-runs.ts";
import { type Selection, seedOfCommit, selectForThisCheckout } from "./testing/landing-selection.ts";
import { readPreviousVersion } from "./testing/previous-version.ts";
import { findOverruns, forgetRuns, type SuiteRun } from "./testing/recorded-runs.ts";
import { findMissingProgram, runSuite } from "./testing/run-suite.ts";
import { type PlannedSuite, runSideBySide } from "./testing/side-by-side.ts";
import { SUITES, type SuiteName } from "./testing/suites.ts";

// Part of each landing, so that over many of them the property tests go as deep as one long run.
const DEEP_MINUTES = "4";

const isAll = process.argv.includes("--all");
const seed = givenSeed() ?? seedOfCommit();
process.env.TEST_SEED = String(seed);
process.stdout.write(`TEST_SEED=${seed}\n`);

const selection: Selection | null = isAll ? null : selectForThisCheckout(readPreviousVersion(), seed);
forgetRuns();
const started = performance.now();
const notRun: string[] = [];
const planned = planSuites();
const runs: SuiteRun[] = [];
for (const { suite, args } of planned.filter((plan) => !sharesCores(plan))) {
  process.stdout.write(`\n== ${suite}\n`);
  runs.push(await runSuite(suite, args));
}
runs.push(...(await runSideBySide(planned.filter(sharesCores))));
report();

function planSuites(): readonly PlannedSuite[] {
  return (Object.keys(SUITES) as SuiteName[]).flatMap((suite) => {
    const args = argumentsOf(suite);
    if (args === null) return [];
    const missing = findMissingProgram(suite);
    if (missing === null) return [{ suite, args }];
    notRun.push(`${suite} was NOT run: ${missing}`);
    return [];
  });
}

function sharesCores({ suite }: PlannedSuite): boolean {
  return "sharesCores" in SUITES[suite];
}

/** Paths and options of the suite; null to leave it out. */
function argumentsOf(suite: SuiteName): readonly string[] | null {
  if (suite === "deep") return isAll ? ["--every-file"] : ["--minutes", DEEP_MINUTES];
  if (selection === null || !("waits" in SUITES[suite])) return [];
  return selection.files.get(suite) ?? null;
}

function report(): void {
  // Deep has a budget for the minutes of a landing only.
  const overruns = findOverruns(runs.filter(({ suite }) => !isAll || suite !== "deep"));
  const unstable = runs.flatMap((run) => run.unstable);
  const failed = runs.reduce((sum, run) => sum + run.failed, 0) + overruns.length;
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const leftOut = selection?.leftOut ?? [];
  const lines = [
    "",
    formatFiles(runs.flatMap(({ files }) => files)),
    leftOut.length === 0
      ? "nothing was left out"
      : `left out, because no change reaches it:\n  ${leftOut.join("\n  ")}`,
    ...overruns,
    formatFailures(runs.flatMap(({ failures }) => failures)),
    `unstable files: ${unstable.length === 0 ? "none" : unstable.join(", ")}`,
    `failed suites: ${
      runs
        .filter((run) => run.failed > 0)
        .map((run) => run.suite)
        .join(", ") || "none"
    }`,
    `TEST_SEED=${seed}`,
    "",
    formatSuites(runs, (performance.now() - started) / 1000),
    // A machine without a program of the suite cannot run it: the last lines must not claim that it passed.
    ...notRun,
    `${passed} passed, ${failed} failed`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
