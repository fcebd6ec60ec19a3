// The chaos project runs at full depth, and finds every test that `npm test` runs a part of.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listDeepTests } from "../../scripts/testing/deep-tests.ts";
import { openRepository } from "../architecture/repository.ts";
import { casesOf, isFullDepth, runsOf } from "./test-depth.ts";

describe("this project", () => {
  it("runs everything", () => {
    expect(isFullDepth()).toBe(true);
    expect([runsOf(100), runsOf(3)]).toEqual([100, 3]);
    expect(casesOf(1, 2, 3)).toEqual([1, 2, 3]);
  });

  it("includes every file that asks for the depth", () => {
    const asking = openRepository(".").files.filter(
      (file) => file.endsWith(".ts") && /from "[^"]*\/test-depth\.ts"/.test(readFileSync(file, "utf8")),
    );
    expect(asking.length).toBeGreaterThan(20);
    expect([...listDeepTests()].sort()).toEqual(asking);
  });
});
