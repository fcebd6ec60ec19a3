// Prints how many of the most traded tokens the shipped lists contain; `--clones <folder>` first renews which those are.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { measureCoverage } from "./token-coverage/coverage.ts";
import { readMostTraded } from "./token-coverage/most-traded.ts";

const { clones } = parseArgs({ options: { clones: { type: "string" } } }).values;
if (clones !== undefined) {
  const file = new URL("./token-coverage/most-traded.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(readMostTraded(clones), null, 2)}\n`);
}
const percent = (part: number, whole: number) => `${Math.floor((100 * part) / whole)} %`;
process.stdout.write(
  "| chain | tokens listed | of the most traded, by packages alone | by all lists |\n|---|---|---|---|\n",
);
for (const { slug, listed, mostTraded, inPackages, inAll } of measureCoverage()) {
  process.stdout.write(
    `| ${slug} | ${listed} | ${percent(inPackages, mostTraded)} | ${percent(inAll, mostTraded)} |\n`,
  );
}
