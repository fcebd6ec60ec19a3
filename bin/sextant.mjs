#!/usr/bin/env node
// The `sextant` command: checks the ground it stands on, then hands over to the doors.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NODE_MIN = [20, 19];

function refuse(sentence) {
  process.stderr.write(`sextant: ${sentence}\n`);
  process.exit(69);
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  refuse(
    `Node ${process.versions.node} is too old; Sextant needs ${NODE_MIN.join(".")} or newer. Install it (for example: nvm install 22) and run the command again.`,
  );
}
if (!existsSync(fileURLToPath(new URL("../node_modules/tsx", import.meta.url)))) {
  refuse("the dependencies are not installed; run `npm ci` in the project's folder first.");
}

// The sources are TypeScript, so there is no build to forget: Nodes in which that is no experiment any more strip the
// types themselves while loading, and for the others tsx does.
const strips = major > 24 || (major === 24 && minor >= 3) || (major === 22 && minor >= 18);
if (!strips) {
  const { register } = await import("tsx/esm/api");
  register();
}
const { main } = await import("../src/cli/main.ts");
await main(process);
