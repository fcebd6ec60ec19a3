// The page of results: one table of the whole product from the newest run of each benchmark, and each one's own below.
import { describe, expect, it } from "vitest";
import {
  aimAtLeast,
  aimAtMost,
  aimBelowMemoryMax,
  type BenchReport,
  type Headline,
} from "../../bench/harness/measurement.ts";
import { formatDatabaseComparison, formatOverview } from "../../bench/harness/overview.ts";
import { formatResultsPage, replaceRuns } from "../../bench/harness/results.ts";

const then = { date: "2026-01-01", commit: "aaaaaaa", machine: "a mill" };
const now = { date: "2026-02-02", commit: "bbbbbbb+", machine: "a steam engine" };

function report(value: string, met: boolean | null): BenchReport {
  const aim = met === null ? null : { text: "50 % or more", met };
  return {
    measurements: [{ what: "turns/s", value, note: "of the wheel" }],
    headlines: [{ what: "turns", value, ceiling: "10 bare", ratio: "5 %", aim }],
  };
}

describe("stored results", () => {
  const stored = {
    grind: { circumstances: then, ...report("1", true) },
    gone: { circumstances: then, ...report("2", true) },
  };

  it("replaces what ran, leaves what did not, forgets what is no longer there, in the order of the benchmarks", () => {
    const parts = replaceRuns(stored, [{ bench: "bake", ...report("3", null) }], now, [
      "bake",
      "grind",
      "never",
    ]);
    expect(Object.keys(parts)).toEqual(["bake", "grind"]);
    expect(parts.grind).toEqual(stored.grind);
    expect(parts.bake).toEqual({ circumstances: now, ...report("3", null) });
    const again = replaceRuns(parts, [{ bench: "grind", ...report("4", false) }], now, ["bake", "grind"]);
    expect(again.grind?.measurements[0]?.value).toBe("4");
    expect(again.grind?.circumstances).toEqual(now);
  });

  it("survives a file", () => {
    const parts = replaceRuns(stored, [], now, ["grind"]);
    expect(JSON.parse(JSON.stringify(parts))).toEqual(parts);
  });
});

describe("databases side by side", () => {
  const on = (value: string) => ({ circumstances: now, ...report(value, true) });

  it("shows each headline with a column for each database that was measured", () => {
    const parts = { grind: on("1"), "grind (stock)": on("2"), bake: on("3") };
    expect(formatDatabaseComparison(parts, ["embedded", "stock", "stock, TLS"])).toBe(
      [
        "bench  headline  embedded  stock   stock, TLS  ratio",
        "grind  turns     1, 5 %    2, 5 %  -           of bare",
        "",
      ].join("\n"),
    );
  });

  it("compares a headline with the same one of another database only, wherever that stands", () => {
    const older = { ...report("9", null).headlines[0], what: "dust", ceiling: "3 wiped" } as Headline;
    const renamed = {
      circumstances: now,
      measurements: [],
      headlines: [older, ...report("2", null).headlines],
    };
    const parts = {
      grind: on("1"),
      "grind (stock)": renamed,
      "grind (remote)": { ...renamed, headlines: [older] },
    };
    expect(formatDatabaseComparison(parts, ["embedded", "stock", "remote"]).split("\n")[1]).toBe(
      "grind  turns     1, 5 %    2, 5 %  -       of bare",
    );
  });

  it("shows nothing if everything ran on one database", () => {
    expect(formatDatabaseComparison({ grind: on("1") }, ["embedded", "stock"])).toBe("");
  });
});

describe("the page", () => {
  const parts = {
    grind: { circumstances: then, ...report("1", false) },
    bake: { circumstances: now, ...report("1,234", null) },
  };

  it("shows every headline with its ceiling, aim and run, under one another", () => {
    expect(formatOverview(parts)).toBe(
      [
        "bench  headline  value  ceiling  ratio   aim           met  measured",
        "grind  turns     1      10 bare     5 %  50 % or more  no   2026-01-01 aaaaaaa",
        "bake   turns     1,234  10 bare     5 %  -             -    2026-02-02 bbbbbbb+",
        "",
      ].join("\n"),
    );
  });

  it("the page has the whole product first, then every benchmark with when and where it ran", () => {
    const page = formatResultsPage(parts);
    expect(page.match(/^## .*$/gm)).toEqual(["## The whole product", "## grind", "## bake"]);
    expect(page).toContain(`\`\`\`\n${formatOverview(parts)}\`\`\`\n`);
    expect(page).toContain("## bake\n\n2026-02-02 · commit bbbbbbb+ · a steam engine\n");
    expect(page).toContain("bake   turns/s   1,234  of the wheel\n");
  });
});

describe("aims", () => {
  it("checks an aim against the rounded ratio that is shown", () => {
    expect(aimAtLeast(69.5, 100, 70)).toEqual({ text: "70 % or more", met: true });
    expect(aimAtLeast(69.4, 100, 70)?.met).toBe(false);
    expect(aimAtMost(120.4, 100, 120)).toEqual({ text: "120 % or less", met: true });
    expect(aimAtMost(120.5, 100, 120)?.met).toBe(false);
  });

  it("checks the memory of an indexer in millions of bytes", () => {
    expect(aimBelowMemoryMax(499_999_999)).toEqual({ text: "below 500 MB", met: true });
    expect(aimBelowMemoryMax(500_000_000)?.met).toBe(false);
  });
});
