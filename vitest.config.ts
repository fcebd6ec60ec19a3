// How the tests run: every *.test.ts of the repository, in two processes beside this one.
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { findChromium } from "./tests/support/find-chromium.ts";

const withoutBrowser = findChromium(process.env.PATH ?? "") === null;
// They need the version before, which `npm run test:upgrade` takes from the history.
const withoutVersionBefore = process.env.TEST_VERSION_BEFORE === undefined;

// They take half a minute and more, whatever their size: begun last, one of them would run alone for a while.
const LONG = [
  "tests/e2e/",
  "tests/indexer/",
  "tests/payments/",
  "packages/embedded-postgres",
  "generated-files",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((part) => moduleId.includes(part));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "contracts/**/*.test.ts", "packages/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      ...(withoutBrowser ? ["tests/browser/**"] : []),
      ...(withoutVersionBefore ? ["tests/upgrade/**"] : []),
    ],
    globalSetup: ["tests/support/database/postgres-global-setup.ts"],
    pool: "forks",
    // Files of one worker share their modules: loading viem and the chain anew for each took a third of the time.
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
