// What benchmarks measure, and how it is shown: one table for all of them.

export type Measurement = {
  readonly what: string;
  readonly value: string;
  /** What it is to be held against. */
  readonly note?: string;
};

export type BenchOptions = {
  readonly events: number;
  readonly seed: number;
  /** Rows under the API as a part of the whole; null for what `full` says. */
  readonly scale: number | null;
  /** Also what takes minutes. */
  readonly full: boolean;
  /** Where CPU profiles go; null for none. */
  readonly profileFolder: string | null;
};

export type Bench = {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Measurement[]>;
};

export function tableOf(results: readonly { bench: string; measurements: readonly Measurement[] }[]): string {
  const rows = [
    ["bench", "measured", "value", "note"],
    ...results.flatMap(({ bench, measurements }) =>
      measurements.map(({ what, value, note = "" }) => [bench, what, value, note]),
    ),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

export function perSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1000);
}

export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`;
}
