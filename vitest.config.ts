// Test suites as vitest projects; scripts/testing/suites.ts says why there is each of them.
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { listDeepTests } from "./scripts/testing/deep-tests.ts";
import { RunReport } from "./scripts/testing/run-report.ts";
import { LongestFirstSequencer } from "./scripts/testing/test-durations.ts";

const TESTS = ["src/**/*.test.ts", "contracts/**/*.test.ts", "packages/**/*.test.ts", "tests/**/*.test.ts"];
const CHAOS = "**/*.chaos.test.ts";
const INTEGRATION = "**/*.integration.test.ts";

// The workers keep all cores busy, so helper threads of the collector only take time from another worker. A larger young
// generation is collected less often. Both saved a tenth of the processor time of the files we measured.
// Most code of a test runs a few times: Node 20 optimises it fifteen times later, which saved an eighth. Later versions do
// so by default, and reject the flag.
const OPTIMISE_LATER = process.versions.node.startsWith("20.") ? ["--interrupt-budget=1000000"] : [];
const WORKER_FLAGS = ["--single-threaded-gc", "--max-semi-space-size=64", ...OPTIMISE_LATER];

const reportFile = process.env.TEST_REPORT_FILE;

function suite(name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      pool: "forks",
      // Files of one worker share their modules: loading viem and the chain for each file took a third of the time.
      isolate: false,
      // Transformed modules stay for the next run. Not for the global setup, which cannot show an error from a cached one.
      experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest" },
      execArgv: WORKER_FLAGS,
      setupFiles: [
        "tests/support/measure-file.ts",
        "tests/support/property-seed.ts",
        "tests/support/patience.ts",
      ],
      // Far above what any test needs: on a machine that is twenty times slower, a test that works still passes.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // As long as tests/support/patience.ts lets others wait.
      expect: { poll: { timeout: 30_000 } },
      benchmark: { include: name === "main" ? ["**/*.bench.ts"] : [] },
      ...test,
    },
  };
}

export default defineConfig({
  test: {
    // Once per run: the projects inherit what it provides.
    globalSetup: [
      "tests/support/database/postgres-global-setup.ts",
      "tests/support/index/shared-history-setup.ts",
    ],
    maxWorkers: 4,
    sequence: { sequencer: LongestFirstSequencer },
    reporters: reportFile === undefined ? ["default"] : ["default", new RunReport(reportFile)],
    projects: [
      suite("main", {
        include: TESTS,
        exclude: [
          ...configDefaults.exclude,
          CHAOS,
          INTEGRATION,
          "contracts/test/**",
          "tests/browser/**",
          "tests/broker/**",
          "tests/bench/quick/**",
          "tests/protocols/**",
          "tests/stock/**",
          "tests/upgrade/**",
        ],
      }),
      // Clusters, several processes or chains, and long histories.
      suite("integration", { include: [INTEGRATION] }),
      // Property and fuzz tests, of which main runs a part, with all their runs.
      suite("deep", { include: listDeepTests(), env: { TEST_DEPTH: "full" } }),
      // One file at a time: each starts several processes and measures how they fail.
      suite("chaos", { include: [CHAOS], maxWorkers: 1 }),
      suite("contracts", { include: ["contracts/test/**/*.test.ts"] }),
      // Contracts of other projects by their own bytecode, which takes long to compile and to deploy.
      suite("protocols", { include: ["tests/protocols/**/*.test.ts"] }),
      // Two at a time: each is a few processes that wait for each other.
      suite("bench", { include: ["tests/bench/quick/**/*.test.ts"], maxWorkers: 1, maxConcurrency: 2 }),
      // A visit of every page is one test or hook, and shares the cores with other suites.
      suite("browser", {
        include: ["tests/browser/**/*.test.ts"],
        ...{ testTimeout: 600_000, hookTimeout: 600_000 },
      }),
      // `npm run test:stock` names the server.
      ...(process.env.TEST_DATABASE_URL === undefined
        ? []
        : [suite("stock", { include: ["tests/stock/**/*.test.ts"] })]),
      suite("broker", { include: ["tests/broker/**/*.test.ts"] }),
      // `npm run test:upgrade` checks the previous version out and sets the variable.
      ...(process.env.TEST_VERSION_BEFORE === undefined
        ? []
        : [suite("upgrade", { include: ["tests/upgrade/**/*.test.ts"] })]),
    ],
  },
});
