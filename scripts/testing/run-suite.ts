// Runs one suite, measures what it costs and records the run.
import { spawnSync } from "node:child_process";
import { inspect } from "node:util";
import { findNatsServer } from "../../tests/broker/nats-server.ts";
import { findStockPostgres } from "../../tests/support/database/stock-postgres.ts";
import { findChromium } from "../../tests/support/find-chromium.ts";
import { SITE_TOOLS } from "../docs-site/build-site.ts";
import { checkOutVersion } from "./checkout-version.ts";
import { runDeepTests } from "./deep-run.ts";
import { installPackages } from "./install-packages.ts";
import { measureSlowness } from "./machine-speed.ts";
import { readPreviousVersion } from "./previous-version.ts";
import { readProcessorSeconds } from "./processor-time.ts";
import { recordRun, type SuiteRun } from "./recorded-runs.ts";
import { runVitest } from "./run-vitest.ts";
import { runStockTests } from "./stock-run.ts";
import type { SuiteName } from "./suites.ts";

type Outcome = Pick<SuiteRun, "passed" | "failed" | "skipped" | "unstable" | "failures" | "files">;
type RunOutcome = (args: readonly string[]) => Promise<Outcome> | Outcome;

const RUN: Readonly<Record<SuiteName, RunOutcome>> = {
  // Loaded here: the checks load the declarations of all services, which takes seconds.
  check: async () => countSteps(await (await import("../checks.ts")).runChecks()),
  contracts: runContractTests,
  // Every run of all files needs the shared history: it is made while the first files run.
  main: (args) =>
    runVitest({
      projects: ["main"],
      args,
      environment: isWhole(args) ? { TEST_SHARED_HISTORY: "at once" } : {},
    }),
  integration: (args) => {
    for (const { tests, folder, what } of TOOLS_OF_TESTS) {
      if (isWhole(args) || args.some((argument) => argument.includes(tests))) installPackages(folder, what);
    }
    return runVitest({ projects: ["integration"], args });
  },
  stock: runStockTests,
  protocols: (args) => {
    installPackages("tests/protocols", "published contracts of other projects (about 270 MB)");
    return runVitest({ projects: ["protocols"], args });
  },
  broker: (args) => runVitest({ projects: ["broker"], args }),
  browser: (args) => runVitest({ projects: ["browser"], args }),
  upgrade: runUpgradeTests,
  chaos: (args) => runVitest({ projects: ["chaos"], args }),
  bench: (args) => runVitest({ projects: ["bench"], args }),
  deep: runDeepTests,
};

/** `args` are paths and options of vitest; without them the whole suite runs. A suite that cannot run has failed. */
export async function runSuite(suite: SuiteName, args: readonly string[] = []): Promise<SuiteRun> {
  const started = performance.now();
  const before = readProcessorSeconds();
  const { passed, failed, skipped, unstable, failures, files } = await runOrFail(suite, args);
  const run: SuiteRun = {
    suite,
    passed,
    failed,
    skipped,
    wallSeconds: (performance.now() - started) / 1000,
    processorSeconds: readProcessorSeconds() - before,
    slowness: measureSlowness(),
    unstable,
    failures,
    files,
  };
  recordRun(run);
  return run;
}

/** Prints the error, so that a landing runs the other suites and ends with its table. */
async function runOrFail(suite: SuiteName, args: readonly string[]): Promise<Outcome> {
  try {
    return await RUN[suite](args);
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`);
    return countSteps([false]);
  }
}

/** Says what this machine lacks for the suite and how to get it; null if the suite can run. */
export function findMissingProgram(suite: SuiteName): string | null {
  const path = process.env.PATH ?? "";
  if (suite === "browser" && findChromium(path) === null)
    return "No Chromium on the path. Install one (Debian: apt-get install chromium).";
  if (suite === "broker" && findNatsServer(path) === null)
    return "No nats-server on the path. Install one (Debian: apt-get install nats-server).";
  if (suite === "stock" && findStockPostgres() === null)
    return "No stock PostgreSQL. Install one (Debian: apt-get install postgresql).";
  if (suite === "upgrade" && !isInHistory(readPreviousVersion()))
    return `The history of this checkout lacks ${readPreviousVersion()}. Fetch it with git fetch --unshallow.`;
  return null;
}

function isWhole(args: readonly string[]): boolean {
  return args.every((argument) => argument.startsWith("-"));
}

function countSteps(steps: readonly boolean[]): Outcome {
  const passed = steps.filter(Boolean).length;
  return { passed, failed: steps.length - passed, skipped: 0, unstable: [], failures: [], files: [] };
}

function isInHistory(commit: string): boolean {
  return spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`]).status === 0;
}

/** Compiling takes longer than many of the tests, and is for a run of all of them. */
async function runContractTests(args: readonly string[]): Promise<Outcome> {
  const tests = await runVitest({ projects: ["contracts"], args });
  if (!isWhole(args)) return tests;
  const { status } = spawnSync("npm", ["run", "compile", "--", "--check"], { stdio: "inherit" });
  return status === 0 ? { ...tests, passed: tests.passed + 1 } : { ...tests, failed: tests.failed + 1 };
}

async function runUpgradeTests(args: readonly string[]): Promise<Outcome> {
  const before = checkOutVersion(readPreviousVersion());
  if (before === null) throw new Error("the history lacks the version before; run git fetch --unshallow");
  try {
    const environment = { TEST_VERSION_BEFORE: before.folder };
    return await runVitest({ projects: ["upgrade"], args, environment });
  } finally {
    before.remove();
  }
}

const TOOLS_OF_TESTS = [
  {
    tests: "tests/openapi-tools",
    folder: "tests/openapi-tools",
    what: "tools that read OpenAPI documents (about 130 MB)",
  },
  {
    tests: "tests/packages",
    folder: "tests/packages",
    what: "three versions of Node, and tools that check packages (about 550 MB)",
  },
  // The server's package contains the site.
  { tests: "tests/packages", folder: "scripts/docs-site", what: SITE_TOOLS },
];
