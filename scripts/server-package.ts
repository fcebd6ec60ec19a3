// `npm run server:package`: packs server and command into a file that `npm install -g` and `npm publish` take.
import { spawnSync } from "node:child_process";
import { buildServerPackage } from "./server-package/build.ts";

const FOLDER = "node_modules/.cache/server-package";

await buildServerPackage(FOLDER);
// npm prints the name of the file.
const { status } = spawnSync("npm", ["pack", `./${FOLDER}`, "--silent"], { stdio: "inherit" });
process.exitCode = status ?? 1;
