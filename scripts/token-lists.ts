// Writes the token lists that Sextant ships; with `--clones <folder>` also those extracted from public repositories.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { buildRepositoryLists, buildRequiredTokens } from "./token-lists/repository-lists.ts";
import { buildShippedLists } from "./token-lists/shipped-lists.ts";

const { clones } = parseArgs({ options: { clones: { type: "string" } } }).values;

async function write(folder: string, lists: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of lists) {
    await writeFile(new URL(`../${folder}/${name}`, import.meta.url), text);
    const { tokens } = JSON.parse(text) as { tokens: readonly unknown[] };
    process.stdout.write(`${folder}/${name}: ${tokens.length} tokens\n`);
  }
}

await write("token-lists", buildShippedLists());
if (clones !== undefined) {
  await write("token-lists/repositories", buildRepositoryLists(clones));
  const required = new URL("../tests/portfolio/required-tokens.json", import.meta.url);
  await writeFile(required, buildRequiredTokens(clones));
}
