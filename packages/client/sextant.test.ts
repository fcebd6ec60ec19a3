// The package offers what its documents say, and browsers can load it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import * as entry from "./sextant.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Every module that a file brings along at run time, ours followed. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  // Imports of types alone are gone at run time.
  const text = readFileSync(file, "utf8").replace(/^(import|export) type [^;]*;/gm, "");
  for (const { fileName } of ts.preProcessFile(text).importedFiles) {
    const path = resolve(dirname(file), fileName);
    if (fileName.startsWith(".") && existsSync(path)) importsOf(path, seen);
    else seen.add(fileName);
  }
  return seen;
}

const packagesOf = (file: string) =>
  [...importsOf(resolve(FOLDER, file))].filter((name) => !name.startsWith(FOLDER)).sort();

it("brings nothing of Node along, and of packages only viem", () => {
  expect(packagesOf("sextant.ts")).toEqual(["viem/utils"]);
  expect(packagesOf("journal/file-journal.ts")).toEqual([
    "node:fs",
    "node:os",
    "node:path",
    "node:timers/promises",
    "node:util",
  ]);
});

it("exports what programs call, and nothing else", () => {
  expect(Object.keys(entry).sort()).toEqual(["SextantError", "createMemoryJournal", "createSextant"]);
});
