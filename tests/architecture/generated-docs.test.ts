// The measured figures in the documents are those of the newest benchmark results.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CAPACITY_PAGE, renewCapacityPage } from "../../scripts/capacity-docs/section.ts";

it("shows the newest results in docs/operations.md; otherwise run `npm run docs:capacity`", () => {
  expect(readFileSync(CAPACITY_PAGE, "utf8")).toBe(renewCapacityPage());
});
