// The comparison of two versions: ratios of means over the turns, and what is worse is called so.
import { describe, expect, it } from "vitest";
import { addCells, reportApis } from "../../bench/against/api-report.ts";
import {
  compareRuns,
  type Figure,
  nameComparison,
  reportComparison,
} from "../../bench/against/comparison.ts";
import { completeFlags, TURNS } from "../../bench/against/versions.ts";
import { readPreviousVersion } from "../../scripts/testing/previous-version.ts";

type Run = { readonly ms: number; readonly rate: number; readonly memory: number | null };

const seconds = (ms: number) => `${ms / 1_000} s`;
const figures: readonly Figure<Run>[] = [
  { what: "time", of: ({ ms }) => ms, format: seconds },
  { what: "rate", of: ({ rate }) => rate, format: String, isRate: true },
  { what: "memory", of: ({ memory }) => memory, format: String },
];

function compare(now: readonly Run[], before: readonly Run[]) {
  return compareRuns(figures, [
    ...before.map((run) => ({ version: "before" as const, run })),
    ...now.map((run) => ({ version: "now" as const, run })),
  ]);
}

describe("a comparison", () => {
  it("divides the mean of this version by the mean of the one before", () => {
    const before = [
      { ms: 1_000, rate: 10, memory: 5 },
      { ms: 3_000, rate: 30, memory: 5 },
    ];
    const now = [
      { ms: 500, rate: 40, memory: 5 },
      { ms: 1_500, rate: 40, memory: 5 },
    ];
    expect(compare(now, before)).toEqual([
      { what: "time", value: "50 %", note: "0.5 s, 1.5 s now | 1 s, 3 s before" },
      { what: "rate", value: "200 %", note: "40, 40 now | 10, 30 before" },
      { what: "memory", value: "100 %", note: "5, 5 now | 5, 5 before" },
    ]);
  });

  it("names a figure that is worse by more than a twentieth, also if a rate fell", () => {
    const before = [{ ms: 1_000, rate: 100, memory: null }];
    const worse = compare([{ ms: 1_060, rate: 94, memory: 1 }], before);
    expect(worse.map(({ note }) => note?.includes("WORSE"))).toEqual([true, true, false]);
    const same = compare([{ ms: 1_040, rate: 96, memory: 1 }], before);
    expect(same.map(({ note }) => note?.includes("WORSE"))).toEqual([false, false, false]);
  });

  it("shows no ratio of what the system does not show", () => {
    const [, , memory] = compare([{ ms: 1, rate: 1, memory: 7 }], [{ ms: 1, rate: 1, memory: null }]);
    expect(memory).toEqual({ what: "memory", value: "-", note: "7 now | - before" });
  });
});

describe("turns", () => {
  it("each version gets the same share of a steady drift", () => {
    const placesOf = (name: string) => TURNS.flatMap((turn, at) => (turn === name ? [at] : []));
    const sum = (places: readonly number[]) => places.reduce((total, place) => total + place, 0);
    expect(sum(placesOf("now"))).toBe(sum(placesOf("before")));
  });
});

describe("--against", () => {
  it("means the version that landed last if it names no commit", () => {
    const last = readPreviousVersion();
    expect(completeFlags(["api", "--against"])).toEqual(["api", "--against", last]);
    expect(completeFlags(["--against", "--quick"])).toEqual(["--against", last, "--quick"]);
    expect(completeFlags(["api", "--against", "HEAD~1"])).toEqual(["api", "--against", "HEAD~1"]);
  });
});

describe("--profile", () => {
  it("means the part of that name if it names no folder", () => {
    expect(completeFlags(["portfolio", "--profile"])).toEqual(["portfolio", "--part", "profile"]);
    expect(completeFlags(["--profile", "folder"])).toEqual(["--profile", "folder"]);
  });
});

describe("the API of two versions", () => {
  const cell = (requests: number, cpuMs: number) => ({ requests, ms: 1_000, cpuMs, databaseMs: cpuMs / 2 });
  const both = (now: number, before: number) => ({ now: cell(now, 500), before: cell(before, 500) });

  it("shows ratios of rates and times per request, and the median over the routes", () => {
    const rows = reportApis([
      { title: "/a", hot: both(200, 100), cold: both(50, 100) },
      { title: "/b", hot: both(100, 100), cold: null },
    ]);
    expect(rows.slice(1).map(({ what, value }) => [what, value])).toEqual([
      ["/a, hot", "200 %"],
      ["/b, hot", "100 %"],
      ["/a, cold", "50 %"],
      ["hot, requests/s, median of 2 routes", "100 %"],
      ["hot, processor time per request, median of 2 routes", "50 %"],
      ["cold, requests/s, median of 1 routes", "50 %"],
      ["cold, processor time per request, median of 1 routes", "200 %"],
      ["cold, processor time of the database per request, median of 1 routes", "200 %"],
    ]);
    expect(rows.filter(({ note }) => note?.includes("WORSE"))).toHaveLength(3);
  });

  it("adds up the turns of a version, and an unknown time makes the sum unknown", () => {
    const unknown = { ...cell(1, 2), databaseMs: null };
    expect(addCells(cell(10, 4), cell(5, 2))).toEqual({
      ...{ requests: 15, ms: 2_000, cpuMs: 6 },
      databaseMs: 3,
    });
    expect(addCells(cell(10, 4), unknown).databaseMs).toBeNull();
  });
});

it("a comparison to store begins with the version that it compares with", () => {
  const one = { what: "time", value: "20 %", note: "1 now | 5 before" };
  const { bench, measurements, headlines } = reportComparison("portfolio", "b8babccb", [one]);
  expect([bench, headlines]).toEqual([nameComparison("portfolio"), []]);
  expect(measurements.map(({ what }) => what)).toEqual(["this version against b8babccb", "time"]);
});
