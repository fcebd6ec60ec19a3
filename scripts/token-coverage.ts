// Prints how many of the tokens that are traded most worldwide, and of Sushi's list, the shipped lists contain; `--clones <folder>` first renews which those are.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { measureCoverage, RANKS } from "./token-coverage/coverage.ts";
import { readMostTraded } from "./token-coverage/most-traded.ts";

const { clones } = parseArgs({ options: { clones: { type: "string" } } }).values;
if (clones !== undefined) {
  const file = new URL("./token-coverage/most-traded.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(readMostTraded(clones), null, 2)}\n`);
}
const percent = (share: { listed: number; of: number } | null) =>
  share === null ? "none in it" : `${Math.floor((100 * share.listed) / share.of)} %`;
const ranks = RANKS.map((rank) => `of the first ${rank}`).join(" | ");
process.stdout.write(`| chain | tokens listed | ${ranks} | of Sushi's list |\n|---|---|---|---|---|---|\n`);
for (const { slug, listed, mostTraded, sushi } of measureCoverage()) {
  const shares = [...mostTraded, sushi].map(percent).join(" | ");
  process.stdout.write(`| ${slug} | ${listed} | ${shares} |\n`);
}
