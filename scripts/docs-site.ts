// Builds the site of the documents into docs/.site: `npm run docs`; `-- --base /docs/` if it is published below that path.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildSite } from "./docs-site/build-site.ts";

const FOLDER = "docs/.site";

const { base = "/" } = parseArgs({ options: { base: { type: "string" } } }).values;
if (!/^\/(.*\/)?$/.test(base))
  throw new Error(`--base is a path that begins and ends with a slash, not ${base}`);
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const pages = buildSite({ version, base, isInstalled: false }, FOLDER);
process.stdout.write(
  `${pages} pages of version ${version} in ${FOLDER}. Read them with node bin/sextant.mjs docs, or copy the folder to any web server.\n`,
);
