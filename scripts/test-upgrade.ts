// `npm run test:upgrade`: a rolling upgrade to this version from the previous one, which this checkout records.
import { readFileSync } from "node:fs";
import { checkOutVersion } from "./testing/checkout-version.ts";
import { runVitest } from "./testing/run-vitest.ts";

const { commit } = JSON.parse(readFileSync("tests/upgrade/previous-version.json", "utf8")) as {
  commit: string;
};
const before = checkOutVersion(commit);
if (before === null) {
  process.stdout.write(
    `Upgrade tests not run: the history of this checkout lacks ${commit}. Fetch it with git fetch --unshallow.\n`,
  );
} else {
  try {
    const { passed, failed } = await runVitest({
      suites: ["upgrade"],
      environment: { TEST_VERSION_BEFORE: before.folder },
    });
    process.stdout.write(`\nupgrade from ${commit.slice(0, 7)}: ${passed} passed, ${failed} failed\n`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    before.remove();
  }
}
