// `npm run bench [-- <names> --events N --seed N --scale N --full --profile <folder>]`: runs the benchmarks and prints one table.
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { apiBench } from "./api.ts";
import { backfillBench } from "./backfill.ts";
import { type Bench, tableOf } from "./measurement.ts";
import { portfolioBench } from "./portfolio.ts";
import { writeResults } from "./results.ts";
import { tell } from "./tell.ts";

const BENCHES: readonly Bench[] = [backfillBench, apiBench, portfolioBench];
// The least that says something about a backfill.
const EVENTS = 200_000;
const SEED = 7;
// At 1 the API is measured over about three million rows; ten times that fills disks.
const SCALE_MAX = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: "string", default: String(EVENTS) },
    seed: { type: "string", default: String(SEED) },
    scale: { type: "string" },
    full: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
const whole = (name: "events" | "seed"): number => {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1`);
  return value;
};
const scale = values.scale === undefined ? null : Number(values.scale);
if (scale !== null && !(scale > 0 && scale <= SCALE_MAX)) {
  throw new Error(`--scale must be above 0 and at most ${SCALE_MAX}`);
}
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  throw new Error(
    `there is no ${unknown.join(", ")}; there is ${BENCHES.map(({ name }) => name).join(", ")}`,
  );
}
const chosen = BENCHES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const options = {
  events: whole("events"),
  seed: whole("seed"),
  scale,
  full: values.full,
  profileFolder: values.profile ?? null,
};
const results = [];
for (const bench of chosen) {
  tell(`${bench.name} begins`);
  results.push({ bench: bench.name, measurements: await bench.run(options) });
}
process.stdout.write(tableOf(results));
const page = writeResults(results.map((each) => ({ bench: each.bench, table: tableOf([each]) })));
tell(`written to ${relative(".", page)}`);
