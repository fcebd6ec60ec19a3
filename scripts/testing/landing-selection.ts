// Selects what a landing runs of the suites that wait: files that can reach a change, and a tenth of the others.
import { execFileSync } from "node:child_process";
import { openRepository, type Repository } from "../../tests/architecture/repository.ts";
import { openReach } from "./reach.ts";
import { SUITES, type SuiteName, suiteOf } from "./suites.ts";

// Each file runs at every tenth landing or so, whatever changes.
const PARTS = 10;

export type Selection = {
  /** Files to run by suite, none for all of them; a suite that is not in it is left out. */
  readonly files: ReadonlyMap<SuiteName, readonly string[]>;
  readonly leftOut: readonly string[];
};

/** `changed` is null if the last landed commit is unknown: then everything runs. */
export function selectFiles(
  repository: Repository,
  { changed, seed }: { readonly changed: readonly string[] | null; readonly seed: number },
): Selection {
  const reach = openReach(withDeletedFiles(repository, changed ?? []));
  const files = new Map<SuiteName, string[]>();
  const waiting: string[] = [];
  const add = (suite: SuiteName, file: string) => files.set(suite, [...(files.get(suite) ?? []), file]);
  for (const file of repository.files) {
    const suite = suiteOf(file);
    if (suite === null || !("waits" in SUITES[suite])) continue;
    const reached = reach.of(file, { pages: suite === "browser" });
    if (changed === null || changed.some((path) => reached.has(path))) add(suite, file);
    else waiting.push(file);
  }
  const leftOut: string[] = [];
  for (const [index, file] of waiting.entries()) {
    const suite = suiteOf(file);
    if (suite !== null && index % PARTS === Math.abs(seed) % PARTS) add(suite, file);
    else leftOut.push(file);
  }
  const mustCompile = changed === null || changed.some((path) => SUITES.contracts.input.test(path));
  if (mustCompile) files.set("contracts", []);
  return { files, leftOut };
}

/** A path that still names a deleted file, or the folder that had it, reaches the deletion. */
function withDeletedFiles(repository: Repository, changed: readonly string[]): Repository {
  const deleted = changed.filter((path) => !repository.has(path));
  return {
    ...repository,
    files: [...repository.files, ...deleted],
    has: (path) => repository.has(path) || deleted.some((file) => `${file}/`.startsWith(`${path}/`)),
    text: (file) => (deleted.includes(file) ? "" : repository.text(file)),
  };
}

/** Files that differ from `commit`, committed or not; null if the history lacks it. */
function listChangedFiles(commit: string): readonly string[] | null {
  try {
    const committed = git("diff", "-z", "--name-only", "--no-renames", commit);
    const added = git("ls-files", "-z", "--others", "--exclude-standard");
    return [...committed, ...added];
  } catch {
    return null;
  }
}

/** A seed for property tests that is new with every commit and the same wherever that commit is tested. */
export function seedOfCommit(): number {
  const [hash = "0"] = git("rev-parse", "HEAD");
  return Number.parseInt(hash.slice(0, 7), 16);
}

export function selectForThisCheckout(commit: string, seed: number): Selection {
  return selectFiles(openRepository("."), { changed: listChangedFiles(commit), seed });
}

function git(...args: readonly string[]): string[] {
  return execFileSync("git", args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  })
    .split(/[\0\n]/)
    .filter((line) => line !== "");
}
