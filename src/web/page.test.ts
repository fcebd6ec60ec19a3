// The sources of the page: every file is included, they form one module, and their types check.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { findTypeErrors } from "../../tests/support/process/type-check.ts";
import { readPageScript, readPageStyle } from "./page.ts";
import { PAY_PAGES } from "./pay-pages.ts";

const FOLDER = fileURLToPath(new URL("./pay-page/", import.meta.url));

const scripts = PAY_PAGES.map(({ path, modules }) => ({ path, script: readPageScript(modules) }));

describe("the scripts of the pages", () => {
  it.each(scripts)("are one module without imports: $path", ({ script }) => {
    const { diagnostics } = ts.transpileModule(script, { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
    expect(script).not.toMatch(/^(?:import|export)\b/m);
  });

  it("have every file in them", () => {
    const all = scripts.map(({ script }) => script).join("");
    const purposes = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".js"))
      .map((name) => ts.sys.readFile(FOLDER + name)?.split("\n", 1)[0] ?? "");
    expect(purposes.length).toBeGreaterThan(5);
    for (const purpose of purposes) expect(all).toContain(purpose);
  });

  it("cannot end the element that contains them", () => {
    for (const { script } of scripts) expect(script).not.toMatch(/<\/script|<!--/i);
    expect(readPageStyle()).not.toMatch(/<\/style/i);
  });

  it("type-checks", () => {
    expect(findTypeErrors(FOLDER)).toBeNull();
  });
});
