// Every test that the documents name exists.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const readText = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

describe("the table of cases", () => {
  const rows = [
    ...readText("tests/protocols/README.md").matchAll(/^\| (.+?) \| `(.+?)` \| "(.+)" \|$/gm),
  ].map(([, name = "", file = "", test = ""]) => [name, file, test] as const);

  it("the table of cases has more than twenty rows", () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(rows)("the table of cases names a test that exists: %s", (_, file, test) => {
    expect(readText(file)).toContain(`"${test}"`);
  });
});
