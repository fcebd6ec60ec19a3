// `npm run server:package`: packs server and command into a file that `npm install -g` and `npm publish` take.
import { spawnSync } from "node:child_process";
import { buildServerPackage } from "./server-package/build.ts";

const FOLDER = "node_modules/.cache/server-package";

const { hasSite } = await buildServerPackage(FOLDER);
if (!hasSite) {
  process.stderr.write(
    "The package has no documents for `sextant docs`. Run `npm run docs` once, which installs the tools, then this again.\n",
  );
}
// npm prints the name of the file.
const { status } = spawnSync("npm", ["pack", `./${FOLDER}`, "--silent"], { stdio: "inherit" });
process.exitCode = status ?? 1;
