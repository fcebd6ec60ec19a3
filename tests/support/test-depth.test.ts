// Without TEST_DEPTH a test runs a part; test-depth.chaos.test.ts shows that the chaos project sets it.
import { expect, it, vi } from "vitest";
import { casesOf, runsOf } from "./test-depth.ts";

it("runs a sixteenth, at least three and at most all of them, and the first case", () => {
  vi.stubEnv("TEST_DEPTH", undefined);
  try {
    expect([80, 40, 12, 3].map((full) => runsOf(full))).toEqual([5, 3, 3, 3]);
    expect(runsOf(16, { min: 2 })).toBe(2);
    expect(casesOf(1, 2, 3)).toEqual([1]);
  } finally {
    vi.unstubAllEnvs();
  }
});
