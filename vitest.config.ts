// How the tests run: every *.test.ts of the repository, in two processes beside this one.
import { configDefaults, defineConfig } from "vitest/config";
import { findChromium } from "./tests/support/find-chromium.ts";

const withoutBrowser = findChromium(process.env.PATH ?? "") === null;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "contracts/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(withoutBrowser ? ["tests/browser/**"] : [])],
    globalSetup: ["tests/support/postgres-global-setup.ts"],
    pool: "forks",
    // Files of one worker share their modules: loading viem and the chain anew for each took a third of the time.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
