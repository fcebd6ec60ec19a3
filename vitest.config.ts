// How the tests run: every *.test.ts of the repository, each file in its own process.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "contracts/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: ["tests/support/postgres-global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
