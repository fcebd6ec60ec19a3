// Finds the Chromium of this machine for the browser tests.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The first one on the path; null when there is none. */
export function findChromium(path: string): string | null {
  const candidates = path.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(isRunnable) ?? null;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
