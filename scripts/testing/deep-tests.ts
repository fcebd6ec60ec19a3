// Finds the test files whose number of runs depends on the depth (tests/support/test-depth.ts).
import { readdirSync, readFileSync } from "node:fs";

const FOLDERS = ["src", "contracts", "packages", "tests"];
const IMPORT = '/test-depth.ts"';

/** Found by their import, so that none can be forgotten in a list. */
export function listDeepTests(): string[] {
  return FOLDERS.flatMap(listTests).filter((file) => readFileSync(file, "utf8").includes(IMPORT));
}

function listTests(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listTests(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
