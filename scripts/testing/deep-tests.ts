// Finds the test files whose number of runs depends on the depth (tests/support/test-depth.ts).
import { readdirSync, readFileSync } from "node:fs";

const FOLDERS = ["src", "contracts", "packages", "tests"];
const IMPORT = '/test-depth.ts"';

/** Found by their import, so that none can be forgotten in a list. */
export function listDeepTests(): string[] {
  return FOLDERS.flatMap(listTests).filter((file) => readFileSync(file, "utf8").includes(IMPORT));
}

/** A chaos test measures how killed processes fail: files that run at the same time would slow them down. */
export const isChaosTest = (file: string) => file.endsWith(".chaos.test.ts");

/** Files that run at once, from this position on, at most `filesMax`; a chaos test runs alone. */
export function chooseGroup(files: readonly string[], position: number, filesMax: number): string[] {
  const group: string[] = [];
  while (group.length < Math.min(filesMax, files.length)) {
    const file = files[(position + group.length) % files.length];
    if (file === undefined || (group.length > 0 && isChaosTest(file))) break;
    group.push(file);
    if (isChaosTest(file)) break;
  }
  return group;
}

function listTests(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listTests(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
