// How users start the command: by its name if the package is installed, by its file in a clone.
import { existsSync } from "node:fs";

// Only a clone has the sources. There the name alone might run another author's package.
const isClone = existsSync(new URL("../cli/main.ts", import.meta.url));

export const PROGRAM = isClone ? "node bin/sextant.mjs" : "sextant";
