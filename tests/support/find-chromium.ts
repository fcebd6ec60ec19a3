// Finds the Chromium of this machine for the browser tests.
import { findProgram } from "./find-program.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The first one on the path; null when there is none. */
export function findChromium(path: string): string | null {
  return findProgram(path, NAMES);
}
