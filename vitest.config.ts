// How the tests run: every *.test.ts of the repository, each file in its own process.
import { configDefaults, defineConfig } from "vitest/config";
import { findChromium } from "./tests/support/find-chromium.ts";

const withoutBrowser = findChromium(process.env.PATH ?? "") === null;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "contracts/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(withoutBrowser ? ["tests/browser/**"] : [])],
    globalSetup: ["tests/support/postgres-global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
