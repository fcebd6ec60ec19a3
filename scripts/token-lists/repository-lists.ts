// Extracts the token lists of public repositories from clones of them: `npm run token-lists -- --clones <folder>`.
import type { Hex } from "../../src/lib/hex.ts";
import { normalizeSymbol } from "../../src/portfolio/tokens/spam.ts";
import { getStablecoins } from "../../src/portfolio/tokens/stablecoins.ts";
import { mergeTokenLists, parseTokenList, type TokenList } from "../../src/portfolio/tokens/token-list.ts";
import type { ListedToken } from "../../src/portfolio/types.ts";
import { openClone } from "./clone.ts";
import { REPOSITORY_SOURCES, type RepositoryRow, type RepositorySource } from "./repository-sources.ts";
import { LISTED_CHAINS, readPackageLists } from "./shipped-lists.ts";

type ListedChain = (typeof LISTED_CHAINS)[number];

/** File name → text. */
export function buildRepositoryLists(clones: string): ReadonlyMap<string, string> {
  const lists = REPOSITORY_SOURCES.map((source) => readSource(source, clones));
  return new Map(LISTED_CHAINS.map((chain) => [`${chain.slug}.json`, formatList(chain, lists)]));
}

/** The tokens that the lists must contain, by chain id: a test compares. */
export function buildRequiredTokens(clones: string): string {
  const sources = REPOSITORY_SOURCES.filter(({ required }) => required);
  const rows = sources.flatMap((source) => source.read(openClone(clones, source)));
  const tokens = LISTED_CHAINS.map(({ chainId }) => {
    const own = rows.filter((row) => row.chainId === chainId && isAddress(row.address));
    return [chainId, [...new Set(own.map(({ address }) => String(address).toLowerCase()))].sort()] as const;
  });
  const names = sources.map(({ repository, commit, date }) => ({ repository, commit, date }));
  return `${JSON.stringify({ sources: names, tokens: Object.fromEntries(tokens) }, null, 2)}\n`;
}

/** One token a line, without logos: compact, and a change shows what it changes. */
function formatList(chain: ListedChain, lists: readonly TokenList[]): string {
  const sources = REPOSITORY_SOURCES.map(({ read: _, ...source }) => source);
  const rows = dropCopies(chain, lists)
    .sort((a, b) => (a.contract < b.contract ? -1 : 1))
    .map(({ contract, symbol, name, decimals }) =>
      JSON.stringify({ chainId: chain.chainId, address: contract, symbol, name, decimals }),
    );
  const head = JSON.stringify({ name: `Sextant ${chain.name}, from public repositories`, sources }, null, 2);
  return `${head.slice(0, -2)},\n  "tokens": [\n    ${rows.join(",\n    ")}\n  ]\n}\n`;
}

/**
 * A listed token is never spam, so what reads like a chain's coin or a stablecoin, at another address, must be known to
 * two sources, or to a protocol that we read.
 */
function dropCopies({ chainId }: ListedChain, lists: readonly TokenList[]): ListedToken[] {
  const all = [...readPackageLists(), ...lists];
  const copied = readMoneySymbols(all);
  const stablecoins = getStablecoins(chainId);
  const sourcesWith = (contract: Hex) => all.filter((list) => list.get(chainId)?.has(contract)).length;
  const required = lists.filter((_, index) => REPOSITORY_SOURCES[index]?.required);
  const isRequired = (contract: Hex) => required.some((list) => list.get(chainId)?.has(contract));
  return [...mergeTokenLists(lists, chainId).values()].filter(
    ({ contract, symbol }) =>
      stablecoins.has(contract) ||
      isRequired(contract) ||
      !copied.has(normalizeSymbol(symbol ?? "")) ||
      sourcesWith(contract) > 1,
  );
}

/** Addresses of the coins, wrapped coins and stablecoins of all chains. */
function readMoneySymbols(lists: readonly TokenList[]): ReadonlySet<string> {
  const symbols = LISTED_CHAINS.flatMap(({ chainId, native }) => {
    const tokens = mergeTokenLists(lists, chainId);
    const stablecoins = [...getStablecoins(chainId)].map((contract) => tokens.get(contract)?.symbol ?? "");
    return [native.symbol, `W${native.symbol}`, ...stablecoins];
  });
  return new Set(symbols.map(normalizeSymbol).filter((symbol) => symbol !== ""));
}

function readSource(source: RepositorySource, clones: string): TokenList {
  const chainIds = new Set(LISTED_CHAINS.map(({ chainId }) => chainId));
  const seen = new Set<string>();
  const tokens = source.read(openClone(clones, source)).filter((row) => {
    const key = `${row.chainId}:${String(row.address).toLowerCase()}`;
    if (!isUsable(row) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return parseTokenList({ tokens }, source.repository, chainIds);
}

// Rows of other chains, without an address or without decimals are many; they say nothing that could be used.
function isUsable({ chainId, address, symbol, name, decimals }: RepositoryRow): boolean {
  const isText = (value: unknown) => typeof value === "string" && value.trim() !== "" && value.length <= 256;
  return (
    Number.isSafeInteger(chainId) &&
    isAddress(address) &&
    isText(symbol) &&
    isText(name) &&
    Number.isSafeInteger(decimals) &&
    (decimals as number) >= 0 &&
    (decimals as number) <= 255
  );
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value);
}
