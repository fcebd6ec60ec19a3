// Runs the property tests and long histories with all their runs, one group of files after the other, until its minutes are over.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { chooseSeed } from "../../tests/support/seeded-random.ts";
import { chooseGroup, isChaosTest, listDeepTests } from "./deep-tests.ts";
import { joinOutcomes, runVitest, type TestOutcome } from "./run-vitest.ts";

const EVERY_FILE = "--every-file";
const MINUTES_DEFAULT = 20;
// Enough that every worker is busy, and few enough that a run ends soon after its time.
const GROUP_FILES = 4;
// The longest history of a chaos test takes as long; a shorter run leaves such files to the next long one.
const CHAOS_MINUTES_MIN = 15;

/**
 * `--minutes N`, or `--every-file` for each file once, and options of vitest. The next run continues with the file after
 * the last one, on any checkout.
 */
export async function runDeepTests(args: readonly string[]): Promise<TestOutcome> {
  const isEveryFile = args.includes(EVERY_FILE);
  const { minutes, options } = parseMinutes(args.filter((argument) => argument !== EVERY_FILE));
  const files = listDeepTests()
    .filter((file) => isEveryFile || minutes >= CHAOS_MINUTES_MIN || !isChaosTest(file))
    .sort();
  const endsMs = Date.now() + minutes * 60_000;
  const firstSeed = chooseSeed();
  const outcomes: TestOutcome[] = [];
  let position = readPosition(files, firstSeed);
  let started = 0;
  do {
    // A second round over the files has other cases.
    const seed = firstSeed + Math.floor(started / files.length);
    const group = chooseGroup(files, position, isEveryFile ? files.length - started : GROUP_FILES);
    process.stdout.write(`\nTEST_SEED=${seed}, all runs: ${group.join(", ")}\n`);
    const environment = { TEST_SEED: String(seed) };
    outcomes.push(await runVitest({ projects: ["deep"], args: [...group, ...options], environment }));
    position += group.length;
    started += group.length;
    writePosition(fileAt(files, position));
  } while (isEveryFile ? started < files.length : Date.now() < endsMs);
  process.stdout.write(
    `\n${started} of ${files.length} files ran; the next run begins with ${fileAt(files, position)}\n`,
  );
  return joinOutcomes(outcomes);
}

function parseMinutes(args: readonly string[]): { minutes: number; options: readonly string[] } {
  const at = args.indexOf("--minutes");
  if (at < 0) return { minutes: MINUTES_DEFAULT, options: args };
  const minutes = Number(args[at + 1]);
  if (!(minutes >= 0)) throw new Error("--minutes takes a number: npm run test:deep -- --minutes 20");
  return { minutes, options: [...args.slice(0, at), ...args.slice(at + 2)] };
}

function fileAt(files: readonly string[], position: number): string {
  const file = files[position % files.length];
  if (file === undefined) throw new Error("no test file asks for its depth (tests/support/test-depth.ts)");
  return file;
}

/** Outside the repository, so that checkouts of one machine continue each other. */
function positionFile(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sextant", "deep-tests.json");
}

/**
 * The position of the last run. A machine without one starts at a position that its seed decides, so that new machines
 * differ.
 */
function readPosition(files: readonly string[], seed: number): number {
  try {
    const { next } = JSON.parse(readFileSync(positionFile(), "utf8")) as { next: string };
    const position = files.findIndex((file) => file >= next);
    return Math.max(0, position);
  } catch {
    return seed % files.length;
  }
}

function writePosition(next: string): void {
  const file = positionFile();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ next }));
}
