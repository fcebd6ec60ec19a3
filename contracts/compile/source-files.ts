// Reads the Solidity sources: our own, and what they import from the library.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const sourceFolder = fileURLToPath(new URL("../src/", import.meta.url));
const require = createRequire(import.meta.url);

export type SourceFile = { readonly name: string; readonly text: string };

// Names are relative to contracts/, so that nothing of this machine reaches the compiler's output.
export function readOwnSources(): readonly SourceFile[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".sol"))
    .sort()
    .map((path) => ({ name: `src/${path}`, text: readFileSync(`${sourceFolder}${path}`, "utf8") }));
}

export function readLibrarySource(importPath: string): string {
  if (!importPath.startsWith("@openzeppelin/contracts/")) {
    throw new Error(`${importPath} is neither ours nor from @openzeppelin/contracts`);
  }
  return readFileSync(require.resolve(importPath), "utf8");
}
