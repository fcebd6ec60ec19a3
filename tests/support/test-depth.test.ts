// How deep a test goes without and with TEST_DEPTH, and which files `npm run test:deep` runs at full depth.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chooseGroup, listDeepTests } from "../../scripts/testing/deep-tests.ts";
import { openRepository } from "../architecture/repository.ts";
import { casesOf, isFullDepth, runsOf } from "./test-depth.ts";

afterEach(() => void vi.unstubAllEnvs());

describe("the depth of a test", () => {
  it("runs a sixteenth of a test's runs, at least three, and its first case", () => {
    vi.stubEnv("TEST_DEPTH", undefined);
    expect(isFullDepth()).toBe(false);
    expect([80, 40, 12, 3].map((full) => runsOf(full))).toEqual([5, 3, 3, 3]);
    expect(runsOf(16, { min: 2 })).toBe(2);
    expect(casesOf(1, 2, 3)).toEqual([1]);
  });

  it("runs all runs and cases with TEST_DEPTH=full", () => {
    vi.stubEnv("TEST_DEPTH", "full");
    expect(isFullDepth()).toBe(true);
    expect([runsOf(100), runsOf(3), runsOf(16, { min: 2 })]).toEqual([100, 3, 16]);
    expect(casesOf(1, 2, 3)).toEqual([1, 2, 3]);
  });
});

describe("the project deep", () => {
  it("includes every file that asks for the depth, at full depth", () => {
    const asking = openRepository(".").files.filter(
      (file) => file.endsWith(".ts") && /from "[^"]*\/test-depth\.ts"/.test(readFileSync(file, "utf8")),
    );
    expect(asking.length).toBeGreaterThan(20);
    expect([...listDeepTests()].sort()).toEqual(asking);
    // Loading the configuration would take a second.
    expect(readFileSync("vitest.config.ts", "utf8")).toMatch(
      /suite\("deep", \{\s*include: listDeepTests\(\),\s*env: \{ TEST_DEPTH: "full" \}/,
    );
  });

  it("runs a few files at once, and a chaos test alone", () => {
    const files = ["a.test.ts", "b.chaos.test.ts", "c.chaos.test.ts", "d.test.ts", "e.test.ts", "f.test.ts"];
    const names = (position: number) =>
      chooseGroup(files, position, 3).map((file) => file.replace(/\..*/, ""));
    expect([0, 1, 2, 3, 4, 5].map(names)).toEqual([
      ["a"],
      ["b"],
      ["c"],
      ["d", "e", "f"],
      ["e", "f", "a"],
      ["f", "a"],
    ]);
    expect(chooseGroup(["a.test.ts"], 0, 3)).toEqual(["a.test.ts"]);
  });
});
