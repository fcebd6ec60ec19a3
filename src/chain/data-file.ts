// Reads the JSON files of chain-data/, each once.
import { readFileSync } from "node:fs";
import { Fault } from "../lib/fault.ts";

const files = new Map<string, unknown>();

/** The parsed file of this path in the folder; null if there is none. */
export function readDataFile(path: string): unknown {
  if (!files.has(path)) files.set(path, parseDataFile(path));
  return files.get(path);
}

function parseDataFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(new URL(`../../chain-data/${path}`, import.meta.url), "utf8"));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Fault("INTERNAL", `chain-data/${path} is not JSON.`, { cause });
  }
}
