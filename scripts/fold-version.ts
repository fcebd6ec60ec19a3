// `npm run fold-version [-- --same-rows | --list]`: writes the hash of the folds into src/protocol/fold-version.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { EQUIVALENT_FOLD_VERSIONS, FOLD_VERSION } from "../src/protocol/fold-version.ts";
import { computeFoldVersion, FOLD_VERSION_FILE } from "./fold-version/fold-version.ts";

const options = process.argv.slice(2);
// A mistyped option must not write a version that makes every database rebuild its rows.
const unknown = options.filter((each) => each !== "--same-rows" && each !== "--list");
if (unknown.length > 0) {
  process.stderr.write(`Unknown option ${unknown.join(" ")}; use --same-rows or --list.\n`);
  process.exit(64);
}
const { version, files } = computeFoldVersion();
const keepsRows = options.includes("--same-rows");
if (options.includes("--list")) process.stdout.write(`${files.join("\n")}\n`);

if (version === FOLD_VERSION) process.stdout.write(`FOLD_VERSION is up to date: ${version}\n`);
else {
  const equivalent = keepsRows ? [...EQUIVALENT_FOLD_VERSIONS, FOLD_VERSION] : [];
  const text = readFileSync(FOLD_VERSION_FILE, "utf8")
    .replace(/FOLD_VERSION = "\w+"/, `FOLD_VERSION = "${version}"`)
    .replace(
      /(\(number \| string\)\[\] = )\[[^\]]*\]/,
      `$1${JSON.stringify(equivalent).replaceAll(",", ", ")}`,
    );
  writeFileSync(FOLD_VERSION_FILE, text);
  const cost = keepsRows ? "databases keep their rows" : "every database is rebuilt at the upgrade";
  process.stdout.write(`FOLD_VERSION is now ${version}: ${cost}\n`);
}
