// Reads the JSON files of chain-data/, each once.
import { readdirSync, readFileSync } from "node:fs";
import { Fault } from "../lib/fault.ts";

const FOLDER = new URL("../../chain-data/", import.meta.url);
const files = new Map<string, unknown>();

/** The paths of the files that chains have of their own. */
export function listDataFiles(): readonly string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.includes("/") && path.endsWith(".json"));
}

/** The parsed file of this path in the folder. */
export function readDataFile(path: string): unknown {
  if (!files.has(path)) files.set(path, parseDataFile(path));
  return files.get(path);
}

function parseDataFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(new URL(path, FOLDER), "utf8"));
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const problem = isMissing ? "is missing: install Sextant again" : "is not JSON";
    throw new Fault("INTERNAL", `chain-data/${path} ${problem}.`, { cause });
  }
}
