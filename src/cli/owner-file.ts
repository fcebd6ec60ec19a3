// Reads a file that holds a secret: only its owner may be able to read it.
import { readFileSync, statSync } from "node:fs";
import { Fault } from "../lib/fault.ts";

const OTHERS_MASK = 0o077;

/** The text, or an empty one if the file has more than `bytesMax`. `variable` names the setting in errors. */
export function readOwnerFile(path: string, variable: string, bytesMax: number): string {
  let status: { readonly mode: number; readonly size: number };
  let text: string;
  try {
    status = statSync(path);
    text = status.size > bytesMax ? "" : readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new Fault("CONFIG_INVALID", `The file that ${variable} names cannot be read.`, { cause });
  }
  // Windows has no such bits.
  if (process.platform !== "win32" && (status.mode & OTHERS_MASK) !== 0) {
    throw new Fault(
      "CONFIG_INVALID",
      `The file that ${variable} names must be readable by its owner only: run chmod 600 on it.`,
    );
  }
  return text;
}
