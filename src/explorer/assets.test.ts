// Assets: every file is served under a name of its content, modules find each other, and their types check.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readAssets } from "./assets.ts";

const FOLDER = fileURLToPath(new URL("./assets/", import.meta.url));

it("every module of the folder is served, and imports others by their served names", () => {
  const { all, pathOf } = readAssets();
  const modules = readdirSync(FOLDER).filter((name) => name.endsWith(".js"));
  for (const name of modules) expect(pathOf(name)).toMatch(/^\/explorer\/assets\/[\w-]+\.[0-9a-f]{12}\.js$/);
  const paths = all.map(({ path }) => path);
  for (const { bytes } of all) {
    for (const [, imported] of bytes.toString().matchAll(/from "([^"]+)"/g))
      expect(paths).toContain(imported);
  }
});

it("the sheet has every file of the folder, and asks for nothing elsewhere", () => {
  const { all } = readAssets();
  const sheet = all.find(({ path }) => path.endsWith(".css"))?.bytes.toString() ?? "";
  const sheets = readdirSync(FOLDER).filter((name) => name.endsWith(".css"));
  expect(sheets.length).toBeGreaterThan(2);
  for (const name of sheets) expect(sheet).toContain(readFileSync(FOLDER + name, "utf8"));
  expect(sheet).not.toMatch(/@import|url\(/);
});
