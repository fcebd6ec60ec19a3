// Token lists in the format of tokenlists.org, read strictly: whoever wrote one decides what a wallet seems to hold.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import type { ListedToken } from "../types.ts";
import { isPseudoNative } from "./pseudo-native.ts";
import { sanitizeText, TOKEN_NAME_LENGTH_MAX, TOKEN_SYMBOL_LENGTH_MAX } from "./sanitize-text.ts";

/** Tokens by chain id and lower-case address. */
export type TokenList = ReadonlyMap<number, ReadonlyMap<Hex, ListedToken>>;

// The largest public lists have about 10,000 rows over all chains.
const ROWS_MAX = 50_000;

// Four scans; more would make every answer slow for tokens that nobody holds.
const TOKENS_PER_CHAIN_MAX = 20_000;

// A text this long was never meant to be shown.
const TEXT_LENGTH_MAX = 256;
const LOGO_LENGTH_MAX = 2_048;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const LOGO = /^(?:https?|ipfs):\/\/[^\s<>"'`\\]+$/;

type Row = { readonly chainId: number; readonly token: ListedToken };

/**
 * The rows of the wanted chains. `source` is how the operator knows the list. One row that can not be understood
 * refuses the whole list: a list that is half read would quietly hide holdings.
 */
export function parseTokenList(list: unknown, source: string, chainIds: ReadonlySet<number>): TokenList {
  const rows = isJsonObject(list) ? list.tokens : undefined;
  if (!Array.isArray(rows)) throw refused(source, 'it has no list named "tokens"');
  if (rows.length > ROWS_MAX) throw refused(source, `it has more than ${ROWS_MAX} tokens`);
  const chains = new Map<number, Map<Hex, ListedToken>>();
  for (const [index, value] of rows.entries()) {
    const row = parseRow(value, chainIds, (what) => refused(source, `token ${index + 1} ${what}`));
    if (row === null || isPseudoNative(row.chainId, row.token.contract)) continue;
    const tokens = chains.get(row.chainId) ?? new Map<Hex, ListedToken>();
    const known = tokens.get(row.token.contract);
    if (known && known.decimals !== row.token.decimals) {
      throw refused(source, `token ${index + 1} is there twice, with different decimals`);
    }
    if (!known) tokens.set(row.token.contract, row.token);
    chains.set(row.chainId, tokens);
  }
  return chains;
}

/** The first list that has a token describes it. */
export function mergeTokenLists(lists: readonly TokenList[], chainId: number): ReadonlyMap<Hex, ListedToken> {
  const merged = new Map<Hex, ListedToken>();
  for (const list of lists) {
    for (const [contract, token] of list.get(chainId) ?? []) {
      if (!merged.has(contract)) merged.set(contract, token);
    }
  }
  if (merged.size > TOKENS_PER_CHAIN_MAX) {
    const count = `${merged.size} tokens on chain ${chainId}, more than the ${TOKENS_PER_CHAIN_MAX} that are scanned`;
    throw new Fault("CONFIG_INVALID", `The token lists together name ${count}.`);
  }
  return merged;
}

function parseRow(
  value: unknown,
  chainIds: ReadonlySet<number>,
  objection: (what: string) => Fault,
): Row | null {
  if (!isJsonObject(value)) throw objection("is not an object");
  const { chainId, address, symbol, name, decimals, logoURI } = value;
  if (!isCount(chainId, Number.MAX_SAFE_INTEGER)) throw objection("has no chainId");
  if (!chainIds.has(chainId)) return null;
  if (typeof address !== "string" || !ADDRESS.test(address))
    throw objection("has no address of 40 hex digits");
  if (!isCount(decimals, 255)) throw objection("has no decimals from 0 to 255");
  const text = (field: unknown, called: string, lengthMax: number) => {
    if (typeof field !== "string" || field.length > TEXT_LENGTH_MAX) {
      throw objection(`has no ${called} of at most ${TEXT_LENGTH_MAX} characters`);
    }
    return sanitizeText(field, lengthMax);
  };
  return {
    chainId,
    token: {
      contract: address.toLowerCase() as Hex,
      symbol: text(symbol, "symbol", TOKEN_SYMBOL_LENGTH_MAX),
      name: text(name, "name", TOKEN_NAME_LENGTH_MAX),
      decimals,
      logo: readLogo(logoURI),
    },
  };
}

// A picture is decoration: an address we would not show is no reason to lose the token.
function readLogo(value: unknown): string | null {
  return typeof value === "string" && value.length <= LOGO_LENGTH_MAX && LOGO.test(value) ? value : null;
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max;
}

function refused(source: string, why: string): Fault {
  return new Fault("CONFIG_INVALID", `The token list ${source} can not be used: ${why}.`);
}
