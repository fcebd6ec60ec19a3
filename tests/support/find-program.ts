// Finds a program of this machine that npm does not install, for the tests that need it.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first one on the path; null if the path has no such program. */
export function findProgram(path: string, names: readonly string[]): string | null {
  const candidates = path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
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
