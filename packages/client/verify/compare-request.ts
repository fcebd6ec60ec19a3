// Compares a response with its request: the wallet, the chains and the blocks must be those that the reader asked for.
import type { SentRequest } from "./http-signature.ts";
import { Rejection } from "./rejection.ts";
import type { Report, Side } from "./report.ts";

/** Parameters that name a block of each chain, and the side of a difference that they are about. */
const BLOCKS: readonly (readonly [name: string, side: Side])[] = [
  ["block", null],
  ["from", "from"],
  ["to", "to"],
];
const COMPARED = ["address", "chains", "partial", "spenders", ...BLOCKS.map(([name]) => name)];

/** Throws a Rejection. Names and times in a request are redirected to addresses and blocks, and compared only then. */
export function compareRequest(request: SentRequest | null, report: Report): void {
  if (request === null || !URL.canParse(request.url)) return;
  const { searchParams } = new URL(request.url);
  const repeated = COMPARED.find((name) => searchParams.getAll(name).length > 1);
  if (repeated !== undefined) throw new Rejection(`The request has ${repeated} twice.`);
  const address = searchParams.get("address")?.trim() ?? "";
  if (/^0x[0-9a-f]{40}$/i.test(address) && address.toLowerCase() !== report.wallet) {
    throw new Rejection("The response is about another wallet than the request.");
  }
  compareSpenders(searchParams.get("spenders"), report);
  const given = searchParams.get("chains");
  const chains = given === null ? null : new Set(given.split(",").map(readSlug));
  const isPartial = searchParams.get("partial") === "allow";
  if (chains !== null) compareChains(chains, report, isPartial);
  for (const [name, side] of BLOCKS) {
    const blocks = readBlocks(searchParams.get(name));
    if (blocks === null) continue;
    if (chains === null) compareChains(new Set(blocks.keys()), report, isPartial);
    compareBlocks(blocks, side, report);
  }
}

/** Each of them for each token that the response lists, and no one else. */
function compareSpenders(given: string | null, { asked }: Report): void {
  if (given === null) return;
  const spenders = new Set(given.split(",").map((word) => word.trim().toLowerCase()));
  if (asked === null) throw new Rejection("The response leaves out the spenders of the request.");
  const listed = new Map<string, Set<string>>();
  for (const { chainId, contract, spender } of asked) {
    const token = `${chainId} ${contract}`;
    listed.set(token, (listed.get(token) ?? new Set()).add(spender ?? ""));
  }
  const isSame = [...listed.values()].every(
    (each) => each.size === spenders.size && [...each].every((spender) => spenders.has(spender)),
  );
  if (!isSame) throw new Rejection("The response is about other spenders than the request.");
}

const ALIASES: ReadonlyMap<string, string> = new Map([["eth", "ethereum"]]);

function readSlug(word: string): string {
  const slug = word.trim().toLowerCase();
  return ALIASES.get(slug) ?? slug;
}

/** Null for a time, or for the id of a snapshot. */
function readBlocks(text: string | null): ReadonlyMap<string, string> | null {
  if (!text?.includes(":")) return null;
  const pairs = text.split(",").map((word) => /^([^:]+):(0|[1-9][0-9]*)$/.exec(word.trim()));
  if (pairs.includes(null)) return null;
  return new Map(pairs.map((pair): [string, string] => [readSlug(pair?.[1] ?? ""), pair?.[2] ?? ""]));
}

function compareChains(asked: ReadonlySet<string>, { chains }: Report, isPartial: boolean): void {
  const isWhole = isPartial || chains.length === asked.size;
  if (!isWhole || chains.some((chain) => !asked.has(chain))) {
    throw new Rejection("The response is about other chains than the request.");
  }
}

function compareBlocks(asked: ReadonlyMap<string, string>, side: Side, { blocks }: Report): void {
  const isOther = blocks.some(
    (block) => block.side === side && asked.get(block.chain) !== block.number.toString(),
  );
  if (isOther) throw new Rejection("The response is about another block than the request.");
}
