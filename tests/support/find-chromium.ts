// Where this machine keeps a Chromium, for the tests that look at pages.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The first one on the path; null when there is none. */
export function findChromium(path: string): string | null {
  const places = path.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find(isRunnable) ?? null;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is said where there is none. */
export const WITHOUT_CHROMIUM =
  "The browser tests in tests/browser were left out: there is no Chromium on the path. Install one (Debian: apt-get install chromium) to run them.\n";
