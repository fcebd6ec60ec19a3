// `npm run soak -- --minutes 30`: the whole production shape under everything that can go wrong, and a verdict.
import { parseArgs } from "node:util";
import { runSoak } from "../tests/e2e/run-soak.ts";
import { FACILITATOR_LIES } from "../tests/e2e/services/lying-facilitator.ts";
import { longProfile } from "../tests/e2e/soak-profile.ts";
import { type Colorize, formatSoakSummary, noColor } from "../tests/e2e/summary.ts";
import type { E2eSystem } from "../tests/e2e/system.ts";

const USAGE = `Usage: npm run soak -- [--minutes 5] [--seed 1]

Runs two indexers, two APIs, two portfolio services and a facilitator over one PostgreSQL and two local chains, while
processes are killed, the chain is reorganised, the database restarts, nodes fail, lie, lag, omit logs and name absurd
fees, a front-runner carries out payments and the facilitator lies about them; others who hold a signature carry it out
after a first try failed, or before it is sent at all; money moves on while it is worked for, and forged payments come
by the hundred. Ends with a table and exit code 0, or 1 when anything was wrong.

  --minutes  duration of the fault phase (0.2 to 1440)
  --seed     where chance starts; any by default, and printed (0 to 4294967295)
  --help     this text
`;

const MINUTES_MAX = 1_440;
const MINUTES_MIN = 0.2;
const SEED_MAX = 2 ** 32 - 1;
const LINE_MS_FILE = 15_000;
const COLOURS = { green: 32, red: 31 } as const;

const { stdout } = process;
const paint: Colorize = stdout.isTTY
  ? (colour, text) => `\u001b[${COLOURS[colour]}m${text}\u001b[0m`
  : noColor;

function number(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} takes a number from ${min} to ${max}, not "${text}"`);
}

function progressLine({ observations, branches }: E2eSystem, leftMs: number): string {
  const of = (kind: string) => observations.counted(kind);
  const reads = [
    "lists read",
    "records read",
    "past read",
    "pages read",
    "analytics read",
    "quick reads",
  ].map(of);
  return [
    `${Math.ceil(leftMs / 1_000)} s left`,
    `${of("simulator steps")} steps`,
    `${reads.reduce((sum, each) => sum + each, 0)} reads`,
    `${of("documents written") + of("metadata written")} writes`,
    `${of("payments")} payments`,
    `${of("kills") + of("graceful shutdowns")} ends`,
    `${branches.reorgs} reorgs`,
    `${of("database restarts")} restarts`,
    `${of("RPC faults")} RPC faults`,
    `${of("payments front-run")} front-run`,
    `${FACILITATOR_LIES.reduce((sum, lie) => sum + of(`lies: ${lie}`), 0)} lies`,
    observations.violationCount === 0
      ? paint("green", "0 wrong")
      : paint("red", `${observations.violationCount} wrong`),
  ].join(", ");
}

async function run(minutes: number, seed: number): Promise<boolean> {
  const stop = new AbortController();
  // A second Ctrl-C finds no handler and ends the process at once.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const startedMs = Date.now();
  let printedMs = 0;
  let printedViolations = 0;
  const result = await runSoak({
    seed,
    pace: longProfile(minutes),
    signal: stop.signal,
    log: (what) => {
      const seconds = String(Math.round((Date.now() - startedMs) / 1_000)).padStart(5);
      stdout.write(`${stdout.isTTY ? "\r\u001b[K" : ""}${seconds} s  ${what} …\n`);
    },
    progress: (system, leftMs) => {
      // Print violations at once.
      for (const what of system.observations.violations.slice(printedViolations))
        stdout.write(`\n${paint("red", what)}\n`);
      printedViolations = system.observations.violations.length;
      if (stdout.isTTY) stdout.write(`\r\u001b[K${progressLine(system, leftMs)}`);
      else if (Date.now() - printedMs >= LINE_MS_FILE) {
        printedMs = Date.now();
        stdout.write(`${progressLine(system, leftMs)}\n`);
      }
    },
  });
  stdout.write(`\n${formatSoakSummary(result, paint)}`);
  return result.ok;
}

try {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "5" },
      seed: { type: "string", default: String(Math.floor(Math.random() * SEED_MAX)) },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) stdout.write(USAGE);
  else {
    const minutes = number("minutes", values.minutes, MINUTES_MIN, MINUTES_MAX);
    process.exitCode = (await run(minutes, number("seed", values.seed, 0, SEED_MAX))) ? 0 : 1;
  }
} catch (error) {
  const stopped = error instanceof DOMException && error.name === "AbortError";
  process.stderr.write(stopped ? "\nstopped\n" : `${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = stopped ? 130 : 1;
}
