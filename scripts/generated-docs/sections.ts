// The generated sections of the documents: which page holds which, and how a page looks with its sections renewed.
import { readFileSync } from "node:fs";
import { readResults } from "../../bench/harness/results.ts";
import { tables } from "../../src/protocol/domains.ts";
import { formatCapacity } from "./capacity.ts";
import { formatEntityDiagram } from "./entity-diagram.ts";

type Section = { readonly page: string; readonly name: string; readonly make: () => string };

const SECTIONS: readonly Section[] = [
  { page: "docs/operations.md", name: "capacity", make: () => formatCapacity(readResults()) },
  { page: "docs/protocol.md", name: "entities", make: () => formatEntityDiagram(tables) },
];

export const GENERATED_PAGES: readonly string[] = [...new Set(SECTIONS.map(({ page }) => page))];

/** The page with each of its sections made again between `<!-- generated: name -->` and `<!-- end: name -->`. */
export function renewPage(page: string): string {
  return SECTIONS.filter((section) => section.page === page).reduce(
    (text, { name, make }) => {
      const [start, end] = [`<!-- generated: ${name}, by npm run docs -->`, `<!-- end: ${name} -->`];
      const [from, to] = [text.indexOf(start), text.indexOf(end)];
      if (from < 0 || to < from) throw new Error(`${page} lacks ${start} … ${end}`);
      return `${text.slice(0, from + start.length)}\n\n${make()}\n\n${text.slice(to)}`;
    },
    readFileSync(page, "utf8"),
  );
}
