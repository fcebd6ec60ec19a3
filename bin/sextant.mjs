#!/usr/bin/env node
// The `sextant` command: checks Node's version and the dependencies, then runs src/cli/main.ts.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NODE_MIN = [20, 19];

function fail(sentence) {
  process.stderr.write(`sextant: ${sentence}\n`);
  process.exit(69);
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(
    `Node ${process.versions.node} is too old; Sextant needs ${NODE_MIN.join(".")} or newer. Install it (for example: nvm install 22) and retry.`,
  );
}
if (!existsSync(fileURLToPath(new URL("../node_modules/tsx", import.meta.url)))) {
  fail("the dependencies are not installed; run `npm ci` in the project folder first.");
}

// The sources are TypeScript and need no build: recent Node versions strip types while loading, tsx does for the others.
const stripsTypes = major > 24 || (major === 24 && minor >= 3) || (major === 22 && minor >= 18);
if (!stripsTypes) {
  const { register } = await import("tsx/esm/api");
  register();
}
const { main } = await import("../src/cli/main.ts");
await main(process);
