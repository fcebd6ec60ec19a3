// The measurements of benchmarks, and how they are shown: one table for all of them.

import type { Versions } from "../against/versions.ts";

// Latencies: median and 99th percentile.

export type Quantiles = { readonly medianMs: number; readonly p99Ms: number };

export function quantilesOf(tookMs: readonly number[]): Quantiles {
  const sorted = Float64Array.from(tookMs).sort();
  const at = (part: number) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
  return { medianMs: at(0.5), p99Ms: at(0.99) };
}

export type Measurement = {
  readonly what: string;
  readonly value: string;
  /** The limit that it is compared with. */
  readonly note?: string;
};

/** A line of the overview: what we promise, or would like to know first. */
export type Headline = {
  readonly what: string;
  readonly value: string;
  /** The baseline, measured in the same run. */
  readonly ceiling: string;
  readonly ratio: string;
  /** Null if nothing is promised. */
  readonly aim: { readonly text: string; readonly met: boolean } | null;
};

export type BenchReport = {
  readonly measurements: readonly Measurement[];
  readonly headlines: readonly Headline[];
};

/** The PostgreSQL that a benchmark runs on; the embedded one unless said otherwise. */
export const DATABASE_KINDS = ["embedded", "stock", "stock, TLS", "stock, TLS, 5 ms away"] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

export type BenchOptions = {
  readonly database: DatabaseKind;
  /** Length of the history; null for the benchmark's default. */
  readonly events: number | null;
  readonly seed: number;
  /** Rows under the API as a part of the whole; null for what `full` says. */
  readonly scale: number | null;
  /** Also what takes minutes. */
  readonly full: boolean;
  /** Only to see that it runs, in seconds: its figures mean nothing. */
  readonly quick: boolean;
  /** The folder of CPU profiles; null for none. */
  readonly profileFolder: string | null;
  /** One part of a benchmark that has several; null for all. */
  readonly part: string | null;
  /** A database that stays, so that a run continues one that was cut; null for one that is thrown away. */
  readonly folder: string | null;
};

export type Bench = {
  readonly name: string;
  /** Whether it can be measured on other databases than the embedded one. */
  readonly anyDatabase?: boolean;
  /** The names that `--part` takes. */
  readonly parts?: readonly string[];
  readonly run: (options: BenchOptions) => Promise<BenchReport>;
  /** Runs two versions in turns; absent if only this version can be measured. */
  readonly compare?: (options: BenchOptions, versions: Versions) => Promise<readonly Measurement[]>;
};

/** Enough to see that everything still runs. */
export const QUICK_SIZES = { events: 2_000, scale: 0.01 };

/** The size that the options ask for. */
export function chooseSize<T>(
  { quick, full }: Pick<BenchOptions, "quick" | "full">,
  sizes: { readonly quick: T; readonly usual: T; readonly full: T },
): T {
  if (quick) return sizes.quick;
  return full ? sizes.full : sizes.usual;
}

export function formatMeasurements(
  results: readonly { bench: string; measurements: readonly Measurement[] }[],
): string {
  return formatColumns([
    ["bench", "measured", "value", "note"],
    ...results.flatMap(({ bench, measurements }) =>
      measurements.map(({ what, value, note = "" }) => [bench, what, value, note]),
    ),
  ]);
}

/** Lines whose cells stand under one another; the last cell may be as long as it likes. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

export function formatPerSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1000);
}

export function formatGrouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function formatPercent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`;
}

/** An aim at a ratio, so that its text and its check cannot differ. */
export function aimAtLeast(part: number, whole: number, percents: number): Headline["aim"] {
  return { text: `${percents} % or more`, met: Math.round((part / whole) * 100) >= percents };
}

export function aimAtMost(part: number, whole: number, percents: number): Headline["aim"] {
  return { text: `${percents} % or less`, met: Math.round((part / whole) * 100) <= percents };
}

export function formatMegabytes(bytes: number): string {
  return `${formatGrouped(bytes / 1e6)} MB`;
}

/** The most memory that an indexer may use, however long the history. */
export const MEMORY_BYTES_MAX = 500e6;

export function aimBelowMemoryMax(bytes: number): Headline["aim"] {
  return { text: `below ${formatMegabytes(MEMORY_BYTES_MAX)}`, met: bytes < MEMORY_BYTES_MAX };
}

export function formatMicroseconds(ms: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${(ms * 1000).toLocaleString("en-US", options)} µs`;
}
