// Prints how many of the tokens that are traded most worldwide, and of Uniswap's, the shipped lists contain; `--clones <folder>` first renews which those are.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { measureCoverage, RANKS } from "./token-coverage/coverage.ts";
import { readMostTraded } from "./token-coverage/most-traded.ts";

const { clones } = parseArgs({ options: { clones: { type: "string" } } }).values;
if (clones !== undefined) {
  const file = new URL("./token-coverage/most-traded.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(readMostTraded(clones), null, 2)}\n`);
}
const percent = ({ listed, of }: { listed: number; of: number }) => `${Math.floor((100 * listed) / of)} %`;
const ranks = RANKS.map((rank) => `of the first ${rank}`).join(" | ");
process.stdout.write(`| chain | tokens listed | ${ranks} | of Uniswap's list |\n|---|---|---|---|---|---|\n`);
for (const { slug, listed, mostTraded, uniswap } of measureCoverage()) {
  const shares = [...mostTraded, uniswap].map(percent).join(" | ");
  process.stdout.write(`| ${slug} | ${listed} | ${shares} |\n`);
}
