// The capacity section of docs/operations.md, renewed from the newest benchmark results.
import { readFileSync } from "node:fs";
import { readResults } from "../../bench/harness/results.ts";
import { formatCapacity } from "./capacity.ts";

export const CAPACITY_PAGE = "docs/operations.md";
const START = "<!-- generated: capacity, by npm run docs:capacity -->";
const END = "<!-- end: capacity -->";

/** The page with its section made again. */
export function renewCapacityPage(): string {
  const text = readFileSync(CAPACITY_PAGE, "utf8");
  const [from, to] = [text.indexOf(START), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${CAPACITY_PAGE} lacks ${START} … ${END}`);
  return `${text.slice(0, from + START.length)}\n\n${formatCapacity(readResults())}\n\n${text.slice(to)}`;
}
