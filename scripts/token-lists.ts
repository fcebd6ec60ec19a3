// Writes the token lists that Sextant ships: `npx tsx scripts/token-lists.ts`, after one of their packages changed.
import { writeFile } from "node:fs/promises";
import { buildShippedLists } from "./token-lists/shipped-lists.ts";

for (const [name, text] of buildShippedLists()) {
  await writeFile(new URL(`../token-lists/${name}`, import.meta.url), text);
  const { tokens } = JSON.parse(text) as { tokens: readonly unknown[] };
  process.stdout.write(`token-lists/${name}: ${tokens.length} tokens\n`);
}
