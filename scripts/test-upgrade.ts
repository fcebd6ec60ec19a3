// What `npm run test:upgrade` runs: a rolling upgrade from the version before, as this checkout records it, to this one.
import { readFileSync } from "node:fs";
import { checkOutVersion } from "./testing/checkout-version.ts";
import { runVitest } from "./testing/run-vitest.ts";

const { commit } = JSON.parse(readFileSync("tests/upgrade/previous-version.json", "utf8")) as {
  commit: string;
};
const before = checkOutVersion(commit);
if (before === null) {
  process.stdout.write(
    `The tests of a rolling upgrade were left out: the history of this checkout does not hold ${commit}. Fetch it (git fetch --unshallow) to run them.\n`,
  );
} else {
  try {
    const { passed, failed } = await runVitest(["tests/upgrade"], { TEST_VERSION_BEFORE: before.folder });
    process.stdout.write(`\nupgrade from ${commit.slice(0, 7)}: ${passed} passed, ${failed} failed\n`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    before.remove();
  }
}
