// Recorded durations of the slow test files: the longest start first, so that none runs alone at the end.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import type { MeasuredFile } from "./run-report.ts";

// Committed, because a clean checkout has no durations of its own.
const FILE = "tests/durations.json";

// Shorter files fit in anywhere.
const SECONDS_MIN = 1;

// A file that takes longer matters for the order.
const UNRECORDED_SECONDS_MAX = 5;

const UPDATE_OPTION = "--update-durations";

type Durations = Readonly<Record<string, number>>;

// Together they last until the shared history is made.
const BEFORE_HISTORY_FILES = 9;

/** The longest files first, but those that may read the shared history after some that never do: it is not made yet. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations = readDurations();
    const pathOf = ({ moduleId }: TestSpecification) => relative(process.cwd(), moduleId);
    const secondsOf = (file: TestSpecification) => durations[pathOf(file)] ?? 0;
    const sorted = [...files].sort(
      (left, right) => secondsOf(right) - secondsOf(left) || left.moduleId.localeCompare(right.moduleId),
    );
    const first = sorted.filter((file) => !pathOf(file).startsWith("tests/")).slice(0, BEFORE_HISTORY_FILES);
    return [...first, ...sorted.filter((file) => !first.includes(file))];
  }
}

/** Every suite takes it, and vitest does not know it. */
export function readUpdateOption(given: readonly string[]): { isUpdate: boolean; args: readonly string[] } {
  const args = given.filter((argument) => argument !== UPDATE_OPTION);
  return { isUpdate: args.length < given.length, args };
}

/** Replaces the durations of the files that ran; those of deleted files go. */
export function recordDurations(files: readonly MeasuredFile[]): void {
  const measured = Object.fromEntries(
    files.map(({ file, seconds }) => [file, Math.round(seconds * 10) / 10]),
  );
  const durations = Object.entries({ ...readDurations(), ...measured })
    .filter(([file, seconds]) => seconds >= SECONDS_MIN && existsSync(file))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`);
}

/** Files that take long and are not recorded: they start last, and the run waits for them alone. */
export function findUnrecordedFiles(files: readonly MeasuredFile[]): string[] {
  const durations = readDurations();
  return (
    files
      .filter(({ file, seconds }) => seconds >= UNRECORDED_SECONDS_MAX && durations[file] === undefined)
      // Renamed or deleted since.
      .filter(({ file }) => existsSync(file))
      .map(
        ({ file, seconds }) =>
          `${file} took ${Math.round(seconds)} s and is not in ${FILE}; run npm test -- --update-durations`,
      )
  );
}

function readDurations(): Durations {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Durations) : {};
}
