// The sources of the page: every file is included, they form one module, and their types check.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { findTypeErrors } from "../../tests/support/process/type-check.ts";
import { readPageScript, readPageStyle } from "./page.ts";

const FOLDER = fileURLToPath(new URL("./pay-page/", import.meta.url));

describe("the page's script", () => {
  it("is one module without imports, with every file in it", () => {
    const script = readPageScript();
    const { diagnostics } = ts.transpileModule(script, { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
    expect(script).not.toMatch(/^(?:import|export)\b/m);
    const purposes = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".js"))
      .map((name) => ts.sys.readFile(FOLDER + name)?.split("\n", 1)[0] ?? "");
    expect(purposes.length).toBeGreaterThan(5);
    for (const purpose of purposes) expect(script).toContain(purpose);
  });

  it("cannot end the element that contains it", () => {
    expect(readPageScript()).not.toMatch(/<\/script|<!--/i);
    expect(readPageStyle()).not.toMatch(/<\/style/i);
  });

  it("type-checks", () => {
    expect(findTypeErrors(FOLDER)).toBeNull();
  });
});
