// How users start the command: by its name if the package is installed, by its file in a clone.
import { existsSync } from "node:fs";

// Only the package has this folder. In a clone the name alone might run another author's package.
const isInstalled = existsSync(new URL("../../dist/", import.meta.url));

/** Starts a local run. */
export const START_LOCAL = isInstalled ? "sextant local" : "npm start";

export const PROGRAM = isInstalled ? "sextant" : "node bin/sextant.mjs";
