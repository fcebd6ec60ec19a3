// The generated sections of the documents say what the code and the benchmark results say.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { GENERATED_PAGES, renewPage } from "../../scripts/generated-docs/sections.ts";

it.each(GENERATED_PAGES)("%s is up to date: run `npm run docs`", (page) => {
  expect(readFileSync(page, "utf8")).toBe(renewPage(page));
});
