// Bundles one program into a folder: a process of its own, because the bundler's plugins need an asynchronous call.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundlePrograms } from "../../../scripts/server-package/bundle.ts";

const BUNDLE_HOURS_MAX = 24;

async function bundle(program: string, folder: string): Promise<void> {
  const cache = dirname(folder);
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "unfinished-"));
  await bundlePrograms({
    entries: { program },
    folder: join(made, "files"),
    sourceUrl: (path) => JSON.stringify(pathToFileURL(path).href),
  });
  try {
    renameSync(join(made, "files"), folder);
  } catch (error) {
    // Another process was faster with the same sources.
    if (!["EEXIST", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  rmSync(made, { recursive: true, force: true });
  removeOldBundles(cache);
}

function removeOldBundles(cache: string): void {
  const oldestMs = Date.now() - BUNDLE_HOURS_MAX * 3_600_000;
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    // Another process that bundles at the same time may have removed it.
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && status.mtimeMs < oldestMs) rmSync(path, { recursive: true, force: true });
  }
}

const [program = "", folder = ""] = process.argv.slice(2);
await bundle(program, folder);
