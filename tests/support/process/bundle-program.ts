// Programs of this checkout as plain JavaScript, bundled once: `sextant api` then starts in a fifth of the CPU time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));
// Below node_modules, so that a bundle finds the packages that stay outside it.
const CACHE = join(CHECKOUT, "node_modules/.cache/test-programs");
const BUNDLER = fileURLToPath(new URL("./bundle-program-child.ts", import.meta.url));
const SOURCES = ["src", "contracts", "packages", "tests"];
// Not their folder: it also builds the site, and a landing would run every test of a process for a change of a document.
const BUNDLER_SOURCES = ["scripts/server-package/bundle.ts", "scripts/server-package/package-folder.ts"];

const bundles = new Map<string, string>();

/** The bundle of a TypeScript program. Node runs it without tsx; all processes of the machine share it. */
export function bundleProgram(file: string): string {
  const bundle = bundles.get(file) ?? findBundle(file);
  bundles.set(file, bundle);
  return bundle;
}

function findBundle(file: string): string {
  const folder = join(CACHE, hashSources(file));
  const bundle = join(folder, "program.js");
  if (existsSync(bundle)) {
    // Bundles that no one has used for a day are removed.
    utimesSync(folder, new Date(), new Date());
    return bundle;
  }
  const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", BUNDLER, file, folder], {
    cwd: CHECKOUT,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`cannot bundle ${file}: ${stderr}`);
  return bundle;
}

/** Changes with every change of a source or of a package. */
function hashSources(file: string): string {
  const hash = createHash("sha256").update(file);
  hash.update(readFileSync(join(CHECKOUT, "package-lock.json")));
  for (const folder of SOURCES) addFiles(join(CHECKOUT, folder));
  for (const path of BUNDLER_SOURCES) addFile(join(CHECKOUT, path));
  return hash.digest("hex").slice(0, 32);

  function addFiles(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") addFiles(path);
      if (!entry.isFile() || entry.name.endsWith(".test.ts") || !/\.(ts|js|mjs|json)$/.test(entry.name))
        continue;
      addFile(path);
    }
  }

  function addFile(path: string): void {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
}
