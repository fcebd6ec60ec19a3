// Strict parsing of token lists in the format of tokenlists.org: a list decides what a wallet appears to hold.
import { findChainById } from "../../chain/chains/chains.ts";
import { Fault } from "../../lib/fault.ts";
import { asAddress, type Hex } from "../../lib/hex.ts";
import { isJsonObject } from "../../lib/json.ts";
import type { ChainConfig, Holding, ListedToken } from "../types.ts";
import {
  DECIMALS_MAX,
  LOGO_LENGTH_MAX,
  sanitizeText,
  TOKEN_NAME_LENGTH_MAX,
  TOKEN_SYMBOL_LENGTH_MAX,
  UNTRUSTED_TEXT_LENGTH_MAX,
} from "./erc20.ts";

/** Tokens by chain id and lower-case address. */
export type TokenList = ReadonlyMap<number, ReadonlyMap<Hex, ListedToken>>;

// The largest public lists have about 10,000 rows over all chains.
const ROWS_MAX = 50_000;

// Eight scans; more would slow down every snapshot for tokens that few wallets hold.
const TOKENS_PER_CHAIN_MAX = 20_000;

const LOGO = /^(?:https?|ipfs):\/\/[^\s<>"'`\\]+$/;

type Row = { readonly chainId: number; readonly token: ListedToken };

/**
 * The rows of the given chains. `source` names the list in errors. One invalid row rejects the whole list, because a
 * partly read list would silently hide holdings.
 */
export function parseTokenList(list: unknown, source: string, chainIds: ReadonlySet<number>): TokenList {
  const rows = isJsonObject(list) ? list.tokens : undefined;
  if (!Array.isArray(rows)) throw invalidList(source, 'it has no list named "tokens"');
  if (rows.length > ROWS_MAX) throw invalidList(source, `it has more than ${ROWS_MAX} tokens`);
  const chains = new Map<number, Map<Hex, ListedToken>>();
  for (const [index, value] of rows.entries()) {
    const row = parseRow(value, chainIds, (what) => invalidList(source, `token ${index + 1} ${what}`));
    if (row === null || isPseudoNative(row.chainId, row.token.contract)) continue;
    const tokens = chains.get(row.chainId) ?? new Map<Hex, ListedToken>();
    const known = tokens.get(row.token.contract);
    if (known && known.decimals !== row.token.decimals) {
      throw invalidList(source, `token ${index + 1} appears twice, with different decimals`);
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
  invalidRow: (what: string) => Fault,
): Row | null {
  if (!isJsonObject(value)) throw invalidRow("is not an object");
  const { chainId, address, symbol, name, decimals, logoURI } = value;
  if (!isCount(chainId, Number.MAX_SAFE_INTEGER)) throw invalidRow("has no chainId");
  if (!chainIds.has(chainId)) return null;
  const contract = asAddress(address);
  if (contract === null) throw invalidRow("has no address of 40 hex digits");
  if (!isCount(decimals, DECIMALS_MAX)) throw invalidRow("has no decimals from 0 to 255");
  const text = (field: unknown, fieldName: string, lengthMax: number) => {
    if (typeof field !== "string" || field.length > UNTRUSTED_TEXT_LENGTH_MAX) {
      throw invalidRow(`has no ${fieldName} of at most ${UNTRUSTED_TEXT_LENGTH_MAX} characters`);
    }
    return sanitizeText(field, lengthMax);
  };
  return {
    chainId,
    token: {
      contract,
      symbol: text(symbol, "symbol", TOKEN_SYMBOL_LENGTH_MAX),
      name: text(name, "name", TOKEN_NAME_LENGTH_MAX),
      decimals,
      logo: parseLogo(logoURI),
    },
  };
}

// A logo is decoration: an invalid URL must not cost us the token.
function parseLogo(value: unknown): string | null {
  return typeof value === "string" && value.length <= LOGO_LENGTH_MAX && LOGO.test(value) ? value : null;
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max;
}

function invalidList(source: string, why: string): Fault {
  return new Fault("CONFIG_INVALID", `The token list ${source} is invalid: ${why}.`);
}

/** A holding as the lists describe it; the contracts' own metadata is read later, for held tokens only. */
export function describeByLists(
  { native, tokens }: ChainConfig,
  contract: Hex | null,
  rawBalance: bigint,
): Holding {
  const unknown = { symbol: null, name: null, decimals: null, logo: null };
  return { ...unknown, ...(contract === null ? native : tokens.get(contract)), contract, rawBalance };
}

// Addresses that represent a chain's native coin: listed as tokens, they would count the coin twice.
const ON_ALL_CHAINS: ReadonlySet<Hex> = new Set<Hex>([
  "0x0000000000000000000000000000000000000000",
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
]);

/** For a lower-case address. */
export function isPseudoNative(chainId: number, address: Hex): boolean {
  return ON_ALL_CHAINS.has(address) || findChainById(chainId)?.nativeAliases?.includes(address) === true;
}
