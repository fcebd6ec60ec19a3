// The sources of the page: every file is included, they form one module, and their types check.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { readPageScript, readPageStyle } from "./page.ts";
import { PAY_PAGES } from "./pay-pages.ts";

const FOLDER = fileURLToPath(new URL("./pay-page/", import.meta.url));

const scripts = PAY_PAGES.map(({ path, modules }) => ({ path, script: readPageScript(modules) }));

describe("the scripts of the pages", () => {
  it.each(scripts)("the script of a page is one module without imports: $path", ({ script }) => {
    expect(script).not.toMatch(/^(?:import|export)\b/m);
    // A module is strict and may wait. Parsed and not run: a name that two files declare is an error, too.
    expect(() => new Script(`async () => { "use strict";\n${script}\n}`)).not.toThrow();
  });

  it("the scripts of the pages contain every file", () => {
    const all = scripts.map(({ script }) => script).join("");
    const purposes = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(FOLDER + name, "utf8").split("\n", 1)[0] ?? "");
    expect(purposes.length).toBeGreaterThan(5);
    for (const purpose of purposes) expect(all).toContain(purpose);
  });

  it("scripts and styles cannot end the element that contains them", () => {
    for (const { script } of scripts) expect(script).not.toMatch(/<\/script|<!--/i);
    expect(readPageStyle()).not.toMatch(/<\/style/i);
  });
});
