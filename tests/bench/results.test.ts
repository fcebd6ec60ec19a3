// The page of results is read part by part, so that one benchmark's newest run leaves the others' where they are.
import { expect, it } from "vitest";
import { partsOf } from "../../bench/results.ts";

it("finds each benchmark's part, whatever stands before the first", () => {
  const page = "# Results\n\nwords\n\n## backfill\n\nthen\n\n```\na  # b\n```\n\n## api\n\nnow\n";
  expect([...partsOf(page)]).toEqual([
    ["backfill", "then\n\n```\na  # b\n```"],
    ["api", "now"],
  ]);
  expect(partsOf("").size).toBe(0);
});
