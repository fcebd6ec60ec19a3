// Every section of docs/runbook.md names a test that carries it out, and each of these tests names the section.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const SECTIONS = readFileSync("docs/runbook.md", "utf8").split(/^## /m).slice(1);

it("has a section for each kind of trouble", () => {
  expect(SECTIONS.map((section) => section.slice(0, section.indexOf("\n")))).toEqual([
    "Backup and restore",
    "Disk full",
    "A node is wrong",
    "Upgrade",
    "Fail-over",
    "Key rotation",
  ]);
});

it.each(SECTIONS.map((section) => [section.slice(0, section.indexOf("\n")), section]))(
  "is carried out by tests: %s",
  (heading, section) => {
    const anchor = `docs/runbook.md#${heading.toLowerCase().replaceAll(" ", "-")}`;
    const proof = /^Tested by .+$/m.exec(section)?.[0] ?? "";
    const tests = [...proof.matchAll(/\]\(\.\.\/(tests\/[^)]+\.test\.ts)\)/g)].map(([, path = ""]) => path);
    expect(tests.length).toBeGreaterThan(0);
    for (const test of tests) expect(readFileSync(test, "utf8"), test).toContain(anchor);
  },
);
