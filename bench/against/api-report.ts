// Reports the API of two versions: for each route the ratio of requests a second, and processor time per request.
import { formatGrouped, formatMicroseconds, type Measurement } from "../harness/measurement.ts";
import { describeLoss, formatRatio, ratioOf } from "./comparison.ts";
import type { VersionName } from "./versions.ts";

/** Processor time of the API and of the database; the latter is null if the system does not show it. */
export type ApiCell = {
  readonly requests: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly databaseMs: number | null;
};

type BothCells = Readonly<Record<VersionName, ApiCell>>;

export type ComparedRoute = {
  readonly title: string;
  readonly hot: BothCells;
  /** Null if only cached responses are measured. */
  readonly cold: BothCells | null;
};

export const NO_REQUESTS: ApiCell = { requests: 0, ms: 0, cpuMs: 0, databaseMs: 0 };

export function addCells(one: ApiCell, other: ApiCell): ApiCell {
  return {
    requests: one.requests + other.requests,
    ms: one.ms + other.ms,
    cpuMs: one.cpuMs + other.cpuMs,
    databaseMs:
      one.databaseMs === null || other.databaseMs === null ? null : one.databaseMs + other.databaseMs,
  };
}

export function reportApis(routes: readonly ComparedRoute[]): Measurement[] {
  const cold = routes.flatMap(({ title, cold: both }) => (both === null ? [] : [{ title, both }]));
  const hot = routes.map(({ title, hot: both }) => ({ title, both }));
  return [
    {
      what: "route",
      value: "ratio",
      note: "of requests/s, now to before | requests/s: now, before | processor time per request: now, before | that of the database",
    },
    ...hot.map(({ title, both }) => describe(`${title}, hot`, both)),
    ...cold.map(({ title, both }) => describe(`${title}, cold`, both)),
    ...summarize("hot", hot),
    ...summarize("cold", cold),
    // Cached responses leave the database alone.
    medianLine("cold, processor time of the database per request", cold, databaseOf, false),
  ];
}

type NamedCells = { readonly title: string; readonly both: BothCells };

const rateOf = ({ requests, ms }: ApiCell): number => (requests / ms) * 1_000;
const cpuOf = ({ cpuMs, requests }: ApiCell): number => cpuMs / requests;
const databaseOf = ({ databaseMs, requests }: ApiCell): number | null =>
  databaseMs === null ? null : databaseMs / requests;

function describe(what: string, { now, before }: BothCells): Measurement {
  const ratio = ratioOf(rateOf(now), rateOf(before));
  const pair = (format: (cell: ApiCell) => string) =>
    [now, before].map((cell) => format(cell).padStart(9)).join("");
  const time = (ms: number | null) => (ms === null ? "-" : formatMicroseconds(ms, 0));
  return {
    what,
    value: ratio === null ? "-" : formatRatio(ratio),
    note: [
      pair((cell) => formatGrouped(rateOf(cell))),
      pair((cell) => time(cpuOf(cell))),
      pair((cell) => time(databaseOf(cell))),
    ].join(" | "),
  };
}

function summarize(temperature: string, routes: readonly NamedCells[]): Measurement[] {
  return [
    medianLine(`${temperature}, requests/s`, routes, rateOf, true),
    medianLine(`${temperature}, processor time per request`, routes, cpuOf, false),
  ];
}

/** The median over all routes: a single route differs by a tenth between two runs of the same code. */
function medianLine(
  what: string,
  routes: readonly NamedCells[],
  of: (cell: ApiCell) => number | null,
  isRate: boolean,
): Measurement {
  const ratios = routes.flatMap(({ both }) => ratioOf(of(both.now), of(both.before)) ?? []);
  const sorted = ratios.sort((one, other) => one - other);
  const [least = null, most = null] = [sorted[0], sorted.at(-1)];
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
  const format = (ratio: number | null) => (ratio === null ? "-" : formatRatio(ratio));
  return {
    what: `${what}, median of ${routes.length} routes`,
    value: format(median),
    note: `${format(least)} to ${format(most)}${describeLoss(median, isRate)}`,
  };
}
