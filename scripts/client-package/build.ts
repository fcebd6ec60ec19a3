// Builds the folder that is published as the client: compiled, with types, and a manifest of its own.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKOUT, emptyFolder, finishPackage, readManifest } from "../server-package/package-folder.ts";

const SOURCE = "packages/client";

/** The name to publish under; docs/adr/0021-client-package.md says why it is not the workspace's. */
const PACKAGE_NAME = "@sextant-index/client";
const ENTRIES = { ".": "sextant", "./file-journal": "journal/file-journal", "./verify": "verify/verify" };

export function buildClientPackage(folder: string): void {
  emptyFolder(folder);
  const result = spawnSync(
    process.execPath,
    [
      join(CHECKOUT, "node_modules/typescript/bin/tsc"),
      "--project",
      join(CHECKOUT, SOURCE),
      "--outDir",
      folder,
    ],
    { encoding: "utf8" },
  );
  if (result.status !== 0) throw new Error(`the client does not compile:\n${result.stdout}${result.stderr}`);
  for (const file of listDeclarations(folder)) writeFileSync(file, renameImports(readFileSync(file, "utf8")));
  finishPackage(folder, `${SOURCE}/README.md`, renderManifest());
}

function renderManifest() {
  const { version, description, license, type, dependencies, peerDependencies } = readManifest(SOURCE);
  const { engines } = readManifest("");
  const exports = Object.fromEntries(
    Object.entries(ENTRIES).map(([name, file]) => [
      name,
      { types: `./${file}.d.ts`, default: `./${file}.js` },
    ]),
  );
  return {
    name: PACKAGE_NAME,
    version,
    description,
    license,
    type,
    sideEffects: false,
    exports,
    engines,
    files: ["**/*.js", "**/*.d.ts"],
    dependencies,
    peerDependencies,
  };
}

function listDeclarations(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
}

/** The compiler renames imports in programs and leaves those in declarations. */
function renameImports(text: string): string {
  return text.replace(/((?:from|import\()\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"');
}
