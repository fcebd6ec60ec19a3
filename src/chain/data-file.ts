// Reads the JSON files of chain-data/, each once.
import { readFileSync } from "node:fs";
import { Fault } from "../lib/fault.ts";

const FOLDER = new URL("../../chain-data/", import.meta.url);

const files = new Map<string, unknown>();

/** The parsed file of this path in the folder; null if there is none. */
export function readDataFile(path: string, folder: URL = FOLDER): unknown {
  const url = new URL(path, folder);
  if (!files.has(url.href)) files.set(url.href, parseDataFile(url, path));
  return files.get(url.href);
}

function parseDataFile(url: URL, path: string): unknown {
  try {
    return JSON.parse(readFileSync(url, "utf8"));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Fault("INTERNAL", `chain-data/${path} is not JSON.`, { cause });
  }
}
