// The bundle of the `sextant` command.
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";

/** `bin/sextant.mjs` adds the check of Node's version, and tsx. */
export function bundleSextant(): string {
  return bundleProgram(fileURLToPath(new URL("./sextant-child.ts", import.meta.url)));
}
