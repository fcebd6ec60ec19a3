// What the documents promise about data and tests: every address has a source and a date, and every named test exists.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const readText = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

describe("files with addresses of contracts", () => {
  const files = readdirSync(new URL("src/portfolio", ROOT), { recursive: true, encoding: "utf8" })
    .map((path) => `src/portfolio/${path}`)
    .filter((path) => path.endsWith(".ts") && !/\.(?:test|bench)\.ts$|fixture/.test(path))
    .filter((path) => /(?:markets|vaults)(?:\/|\.ts$)|stablecoins\.ts$/.test(path))
    .filter((path) => /"0x[0-9a-f]{40}"/i.test(readText(path)));

  it("finds the files with addresses of contracts", () => {
    expect(files).toContain("src/portfolio/positions/erc4626/markets.ts");
    expect(files).toContain("src/portfolio/positions/aave-v3/markets/base.ts");
    expect(files.length).toBeGreaterThan(25);
  });

  it.each(files)("names a source of addresses with its date or version: %s", (path) => {
    const comments = readText(path)
      .split("\n")
      .filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line))
      .join("\n");
    expect(comments).toMatch(
      /\b20\d\d-\d\d-\d\d\b|address-book \d+\.\d+|token-lists\/README\.md|\b[A-Z][a-z]+ 20\d\d\b/,
    );
  });
});

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
