// The figures of two versions side by side, with the ratio of this one to the one before.
import type { Measurement } from "../harness/measurement.ts";
import type { NamedBenchReport } from "../harness/results.ts";
import type { VersionName } from "./versions.ts";

/** A figure of a run; null if the system does not show it. */
export type Figure<Run> = {
  readonly what: string;
  readonly of: (run: Run) => number | null;
  readonly format: (value: number) => string;
  /** A rate; otherwise less is better. */
  readonly isRate?: true;
};

export type TurnRun<Run> = { readonly version: VersionName; readonly run: Run };

// A change may cost this much without a word about it in its commit.
const WORSE_PERCENTS = 5;

export function compareRuns<Run>(
  figures: readonly Figure<Run>[],
  runs: readonly TurnRun<Run>[],
): Measurement[] {
  return figures.map(({ what, of, format, isRate }) => {
    const valuesOf = (name: VersionName) =>
      runs.filter(({ version }) => version === name).map(({ run }) => of(run));
    const [now, before] = [valuesOf("now"), valuesOf("before")];
    const ratio = ratioOf(meanOf(now), meanOf(before));
    const list = (values: readonly (number | null)[]) =>
      values.map((value) => (value === null ? "-" : format(value))).join(", ");
    return {
      what,
      value: ratio === null ? "-" : formatRatio(ratio),
      note: `${list(now)} now | ${list(before)} before${describeLoss(ratio, isRate ?? false)}`,
    };
  });
}

export function formatRatio(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`;
}

/** Says that this version is worse by more than may go without a word; empty otherwise. */
export function describeLoss(ratio: number | null, isRate: boolean): string {
  if (ratio === null) return "";
  const loss = isRate ? 1 / ratio - 1 : ratio - 1;
  return loss > WORSE_PERCENTS / 100 ? ` | WORSE by more than ${WORSE_PERCENTS} %` : "";
}

function meanOf(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum / values.length;
}

/** Null without both, and of nothing. */
export function ratioOf(now: number | null, before: number | null): number | null {
  return now === null || before === null || before === 0 ? null : now / before;
}

/** The name under which the newest comparison of a benchmark is stored. */
export function nameComparison(bench: string): string {
  return `${bench}, against`;
}

/** A comparison to store: the table alone would not say with which version. */
export function reportComparison(
  bench: string,
  commit: string,
  measurements: readonly Measurement[],
): NamedBenchReport {
  const first: Measurement = {
    what: `this version against ${commit}`,
    value: "ratio",
    note: "in turns on one machine: both runs now | both runs before",
  };
  return { bench: nameComparison(bench), measurements: [first, ...measurements], headlines: [] };
}
