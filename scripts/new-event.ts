// `npm run new-event`: adds a made-up event to a copy of the repository, and shows that a test forces each edit by hand.
import { spawnSync } from "node:child_process";
import { applyEdit, revertEdit } from "./new-event/apply-edit.ts";
import { copyRepository } from "./new-event/copy-repository.ts";
import { type EventEdit, NEW_EVENT_EDITS } from "./new-event/edits.ts";

const { root, remove } = copyRepository();
try {
  process.exitCode = checkNewEvent() ? 0 : 1;
} finally {
  remove();
}

function checkNewEvent(): boolean {
  for (const edit of NEW_EVENT_EDITS) applyEdit(root, edit);
  const forced = NEW_EVENT_EDITS.filter(({ forcedBy }) => forcedBy !== null);
  const tests = [...new Set(forced.flatMap(({ forcedBy }) => forcedBy ?? []))];
  const isComplete =
    step("npm run compile", ["tsx", "contracts/compile/run.ts"]) &&
    step("npm run fold-version", ["tsx", "scripts/fold-version.ts"]) &&
    step("npm run docs:protocol", ["tsx", "scripts/protocol-docs.ts"]) &&
    step("types", ["tsc", "--noEmit"]) &&
    step("all edits together pass the tests", ["vitest", "run", ...tests]);
  if (!isComplete) return false;
  const unforced = forced.filter((edit) => !isForced(edit));
  print(
    `${NEW_EVENT_EDITS.length} files by hand, of which ${forced.length - unforced.length} are forced by a test`,
  );
  return unforced.length === 0;
}

/** Whether the test of an edit fails without it. */
function isForced(edit: EventEdit): boolean {
  revertEdit(root, edit);
  const { status } = run(["vitest", "run", edit.forcedBy ?? ""]);
  applyEdit(root, edit);
  print(`${status === 0 ? "NOT FORCED" : "forced"}  ${edit.file} (${edit.forcedBy})`);
  return status !== 0;
}

function step(name: string, command: readonly string[]): boolean {
  const { status, stdout, stderr } = run(command);
  print(`${status === 0 ? "ok" : "FAIL"}  ${name}`);
  if (status !== 0) print(stdout + stderr);
  return status === 0;
}

function run([name = "", ...args]: readonly string[]) {
  return spawnSync(`${root}/node_modules/.bin/${name}`, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
