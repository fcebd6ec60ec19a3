// `npm run bench [-- <names> --against <commit> --store --database <kind> --events N --seed N --scale N --full --quick --overview --profile <folder> --part <name> --folder <path>]`: runs the benchmarks, prints and keeps their tables.
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { nameComparison, reportComparison } from "./against/comparison.ts";
import { completeFlags, withVersions } from "./against/versions.ts";
import { BENCHES } from "./benches.ts";
import {
  type Bench,
  DATABASE_KINDS,
  type DatabaseKind,
  formatMeasurements,
  QUICK_SIZES,
} from "./harness/measurement.ts";
import { formatOverview } from "./harness/overview.ts";
import { logProgress } from "./harness/progress.ts";
import {
  type NamedBenchReport,
  RESULT_FILES,
  readResults,
  readRunEnvironment,
  replaceRuns,
  writeResults,
} from "./harness/results.ts";

const SEED = 7;
// At 1 the API is measured over about three million rows; ten times that fills disks.
const SCALE_MAX = 10;

const USAGE = `npm run bench [-- <names>] [--database ${DATABASE_KINDS.join("|")}] [--events N] [--seed N] [--scale N] [--full] [--quick] [--overview] [--profile [FOLDER]]
npm run bench -- ${BENCHES.flatMap(({ name, compare }) => (compare ? [name] : [])).join("|")} --against [COMMIT] [--store]

Runs benchmarks, prints their tables and stores them in bench/RESULTS.md. --quick only shows that they run and stores
nothing. --overview shows the newest run of every benchmark, as a run of all of them does. --against runs this checkout
and COMMIT (default: the version that landed last) in turns on the same machine and prints the ratios; --store keeps
them. --profile FOLDER writes CPU profiles; portfolio --profile prints where a snapshot's processor time goes, and its
node requests.
Names: ${BENCHES.map(({ name }) => name).join(", ")}; all of them without a name.`;

const { values: given, positionals } = parseArgs({
  args: completeFlags(process.argv.slice(2)),
  allowPositionals: true,
  options: {
    against: { type: "string" },
    store: { type: "boolean", default: false },
    overview: { type: "boolean", default: false },
    events: { type: "string" },
    seed: { type: "string", default: String(SEED) },
    scale: { type: "string" },
    full: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    profile: { type: "string" },
    part: { type: "string" },
    folder: { type: "string" },
    database: { type: "string", default: DATABASE_KINDS[0] },
    help: { type: "boolean", default: false },
  },
});
if (given.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const values = given;
const whole = (name: "events" | "seed", text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`);
  return value;
};
const givenScale = values.scale === undefined ? null : Number(values.scale);
const scale = givenScale ?? (values.quick ? QUICK_SIZES.scale : null);
if (scale !== null && !(scale > 0 && scale <= SCALE_MAX)) {
  throw new Error(`--scale must be above 0 and at most ${SCALE_MAX}`);
}
const names = BENCHES.map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(", ")}; there is ${names.join(", ")}`);
const database = DATABASE_KINDS.find((kind) => kind === values.database);
if (!database)
  throw new Error(`--database must be one of: ${DATABASE_KINDS.map((kind) => `"${kind}"`).join(", ")}`);
const chosen = BENCHES.filter(
  ({ name, anyDatabase }) =>
    (positionals.length === 0 || positionals.includes(name)) && (anyDatabase || database === "embedded"),
);
const partName = (name: string, part: string) => `${name}, ${part}`;
const resultName = ({ name }: Bench, kind: DatabaseKind) =>
  kind === "embedded" ? name : `${name} (${kind})`;
const retained = BENCHES.flatMap((bench) => [
  ...(bench.anyDatabase ? DATABASE_KINDS : DATABASE_KINDS.slice(0, 1)).map((kind) => resultName(bench, kind)),
  // A part that ran by itself stands alongside the newest run of the whole.
  ...(bench.parts ?? []).map((part) => partName(bench.name, part)),
  ...(bench.compare ? [nameComparison(bench.name)] : []),
]);
const options = {
  database,
  events:
    values.events === undefined ? (values.quick ? QUICK_SIZES.events : null) : whole("events", values.events),
  seed: whole("seed", values.seed),
  scale,
  full: values.full,
  quick: values.quick,
  profileFolder: values.profile ?? null,
  part: values.part ?? null,
  folder: values.folder ?? null,
};
const parted = chosen.flatMap(({ parts = [] }) => parts);
if (options.part !== null && !parted.includes(options.part))
  throw new Error(`--part must be one of: ${parted.join(", ")}`);
if (values.against === undefined) await runAll();
else await compareAll(values.against);

async function runAll(): Promise<void> {
  const circumstances = readRunEnvironment();
  const results: NamedBenchReport[] = [];
  let parts = readResults();
  for (const bench of chosen) {
    const name =
      options.part === null ? resultName(bench, options.database) : partName(bench.name, options.part);
    logProgress(`${name} begins`);
    const result = { bench: name, ...(await bench.run(options)) };
    results.push(result);
    parts = replaceRuns(parts, [result], circumstances, retained);
    // After each one: should the next one fail, what took minutes is not lost.
    if (!values.quick) writeResults(parts);
  }
  const ran = replaceRuns({}, results, circumstances, retained);
  const isOverview = values.overview || (positionals.length === 0 && !values.quick);
  process.stdout.write(`${formatMeasurements(results)}\n${formatOverview(isOverview ? parts : ran)}`);
  const files = RESULT_FILES.map((file) => relative(".", file)).join(" and ");
  logProgress(values.quick ? "not stored: it was a quick run" : `written to ${files}`);
}

/** Stores nothing unless asked to: what it prints is about two versions on this machine now. */
async function compareAll(commit: string): Promise<void> {
  const compared = chosen.flatMap(({ name, compare }) => (compare ? [{ name, compare }] : []));
  if (compared.length < chosen.length || positionals.length === 0) {
    const able = BENCHES.flatMap(({ name, compare }) => (compare ? [name] : []));
    throw new Error(`--against takes the name of a benchmark that can compare: ${able.join(", ")}`);
  }
  await withVersions(commit, async (versions) => {
    for (const { name, compare } of compared) {
      const measurements = await compare(options, versions);
      process.stdout.write(formatMeasurements([{ bench: `${name}, ${commit} to now`, measurements }]));
      if (!values.store || values.quick) continue;
      const report = reportComparison(name, commit, measurements);
      writeResults(replaceRuns(readResults(), [report], readRunEnvironment(), retained));
    }
  });
}
