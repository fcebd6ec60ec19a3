// The query of a pay page's form: fields that say when take an age, a date or blocks.
import { exampleDay, isMoment } from "../../lib/moment.ts";

/** The fields that say when; `at` is sent as `block` if it has blocks. */
export const WHEN_FIELDS: readonly string[] = ["at", "from", "to"];

const NUMBER = /^\d+$/;
const BLOCKS = /^[a-z][a-z0-9-]*:\d/;
const SNAPSHOT_ID = /^[0-9a-f]{64}$/;
const DATE = /^\d{4}-/;

/** Whether the parameter has a time, which the service redirects to blocks. */
export function isTimeOf(name: string, value: string): boolean {
  return WHEN_FIELDS.includes(name) && isMoment(value);
}

/** Dates stay as they are written: their T and Z are upper case. A number is the block of the only chain. */
function toWhen(text: string, chains: readonly string[]): string {
  if (DATE.test(text)) return text;
  const [chain, ...others] = chains;
  return NUMBER.test(text) && chain !== undefined && others.length === 0
    ? `${chain}:${text}`
    : text.toLowerCase();
}

/** A sentence for the visitor; empty without a problem. */
export function findWhenProblem(text: string, chosenChains: number): string {
  const when = toWhen(text.trim(), []);
  if (NUMBER.test(when) && chosenChains !== 1)
    return "A block number belongs to one chain: choose one chain, or write base:38000000 for each of them.";
  const isKnown = [NUMBER, BLOCKS, SNAPSHOT_ID].some((form) => form.test(when)) || isMoment(when);
  return when === "" || isKnown ? "" : `Write an age such as 7d, a date such as ${exampleDay()}, or a block.`;
}

/** In a difference, the blocks or the snapshot name the chains, unless a time has to know them. */
function hasOwnChains(query: URLSearchParams): boolean {
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""];
  return BLOCKS.test(from) || BLOCKS.test(to) || (SNAPSHOT_ID.test(from) && !isMoment(to));
}

/** Empty fields but the wallet are left out. */
export function buildFormQuery(
  fields: readonly (readonly [name: string, text: string])[],
  chains: readonly string[],
): string {
  const query = new URLSearchParams();
  for (const [name, text] of fields) {
    const value = WHEN_FIELDS.includes(name) ? toWhen(text.trim(), chains) : text.trim().toLowerCase();
    if (value === "" && name !== "address") continue;
    query.append(name === "at" && !isMoment(value) ? "block" : name, value);
  }
  return `${query}${chains.length === 0 || hasOwnChains(query) ? "" : `&chains=${chains.join(",")}`}`;
}

/** The chains that the query of a link names: by themselves, or by its blocks. Empty without either. */
export function findChainNames(query: URLSearchParams): readonly string[] {
  const blocks = [query.get("block") ?? "", query.get("from") ?? "", query.get("to") ?? ""];
  const named = query.has("chains")
    ? query.getAll("chains").join(",")
    : (blocks.map((each) => each.trim().toLowerCase()).find((each) => BLOCKS.test(each)) ?? "");
  return named
    .toLowerCase()
    .replace(/:\d*/g, "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}
