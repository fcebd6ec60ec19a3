// Every benchmark over almost no data: none may break unseen between two runs that measure something.
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BENCHES } from "../../../bench/benches.ts";
import { type BenchOptions, QUICK_SIZES } from "../../../bench/harness/measurement.ts";

// The longest takes a minute on a busy machine.
const BENCH_MS_MAX = 600_000;

const options: BenchOptions = {
  ...QUICK_SIZES,
  ...{ database: "embedded", seed: 7, full: false, quick: true },
  ...{ profileFolder: null, part: null, folder: null },
};

it.concurrent.each(BENCHES)(
  "measures $name",
  async ({ run }) => {
    const { measurements, headlines } = await run(options);
    expect(measurements.length).toBeGreaterThan(0);
    expect(headlines.length).toBeGreaterThan(0);
  },
  BENCH_MS_MAX,
);

it.concurrent.each(BENCHES.flatMap(({ name, compare }) => (compare ? [{ name, compare }] : [])))(
  "compares a version with itself by $name",
  async ({ compare }) => {
    const folder = fileURLToPath(new URL("../../..", import.meta.url));
    const measurements = await compare(options, {
      before: { name: "before", folder },
      now: { name: "now", folder },
    });
    expect(measurements.length).toBeGreaterThan(0);
    expect(measurements.filter(({ value }) => value.endsWith(" %")).length).toBeGreaterThan(0);
  },
  BENCH_MS_MAX,
);
