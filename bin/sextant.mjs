#!/usr/bin/env node
// The `sextant` command: checks Node's version and the dependencies, then runs src/cli/main.ts, or what is compiled of it.
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";

const NODE_MIN = [20, 19];
/** Only the published package has it. */
const COMPILED = new URL("../dist/main.js", import.meta.url);

function fail(sentence) {
  process.stderr.write(`sextant: ${sentence}\n`);
  process.exit(69);
}

async function loadMain() {
  if (existsSync(COMPILED)) {
    // Node compiles the command once for all runs.
    module.enableCompileCache?.();
    return import(COMPILED.href);
  }
  if (!existsSync(new URL("../node_modules/tsx", import.meta.url))) {
    fail("the dependencies are not installed; run `npm ci` in the project folder first.");
  }
  // The sources need no build: recent Node versions strip types while loading, tsx does for the others.
  const stripsTypes = major > 24 || (major === 24 && minor >= 3) || (major === 22 && minor >= 18);
  if (!stripsTypes) {
    // Its two hundred modules need no hook of tsx, each of which is a message to another thread.
    if (process.argv[2] === "mcp") await import("@modelcontextprotocol/server/stdio");
    const { register } = await import("tsx/esm/api");
    register();
  }
  return import("../src/cli/main.ts");
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(
    `Node ${process.versions.node} is too old; Sextant needs ${NODE_MIN.join(".")} or newer. Install it (for example: nvm install 22) and retry.`,
  );
}
// Scripts ask for the version, and loading the command takes longer.
if (["--version", "-v", "version"].includes(process.argv[2])) {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  process.stdout.write(`sextant ${JSON.parse(manifest).version}\n`);
} else {
  const { main } = await loadMain();
  await main(process);
}
