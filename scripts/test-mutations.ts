// `npm run test:mutations`: plants defects in a copy of this checkout, one at a time, and shows that a test fails for each.
// A name, or part of one, after the command runs those alone.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MUTATIONS, type Mutation } from "./mutations/mutations.ts";
import { copyRepository } from "./new-event/copy-repository.ts";
import { suiteOf } from "./testing/suites.ts";

// The report of a test with many failures.
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const wanted = process.argv.slice(2).join(" ");
const mutations = MUTATIONS.filter(({ name }) => name.includes(wanted));
if (mutations.length === 0) throw new Error(`No mutation has "${wanted}" in its name.`);
const copy = copyRepository();
let missed = 0;
try {
  for (const mutation of mutations) {
    const isCaught = plant(mutation);
    if (!isCaught) missed += 1;
    process.stdout.write(`${isCaught ? "caught" : "MISSED"}  ${mutation.name} (${mutation.caughtBy})\n`);
  }
} finally {
  copy.remove();
}
process.exitCode = missed === 0 ? 0 : 1;

/** Whether the test passes without the defect is what the suite itself shows: here only the failure counts. */
function plant({ name, file, find, replace, caughtBy }: Mutation): boolean {
  const path = join(copy.root, file);
  const text = readFileSync(path, "utf8");
  if (text.split(find).length !== 2) {
    throw new Error(
      `"${name}": the text to replace must occur once in ${file}; adapt scripts/mutations/mutations.ts`,
    );
  }
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    const suite = suiteOf(caughtBy);
    const args = ["node_modules/vitest/vitest.mjs", "run", `--project=${suite}`, "--bail=1", caughtBy];
    const { status, stdout } = spawnSync(process.execPath, args, {
      cwd: copy.root,
      encoding: "utf8",
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    // Only a failed test counts: not a file that vitest does not find or cannot load.
    return status !== 0 && /Tests\s+.*\d+ failed/.test(stripColours(stdout));
  } finally {
    writeFileSync(path, text);
  }
}

function stripColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour.
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}
