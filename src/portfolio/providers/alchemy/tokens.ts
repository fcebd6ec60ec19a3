// All tokens of a wallet on one chain: every page, or a rejection.
import { asAddress, type Hex } from "../../../lib/hex.ts";
import { isJsonObject, type JsonObject, parseExactDecimal, parseExactInteger } from "../../../lib/json.ts";
import {
  DECIMALS_MAX,
  LOGO_LENGTH_MAX,
  sanitizeText,
  TOKEN_NAME_LENGTH_MAX,
  TOKEN_SYMBOL_LENGTH_MAX,
  UNTRUSTED_TEXT_LENGTH_MAX,
} from "../../tokens/erc20.ts";
import { isPseudoNative } from "../../tokens/token-list.ts";
import { type QuotedPrice, quotePrice } from "../../types.ts";
import { parseVendorQuantity, parseVendorTime, VendorError } from "../../vendor-request.ts";
import type { AlchemyClient, AlchemyNetwork } from "./client.ts";

export type AlchemyToken = {
  /** Null is the native coin, in whatever form the vendor writes it. */
  readonly contract: Hex | null;
  /** Null when the vendor sent no balance. */
  readonly rawBalance: bigint | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly price: QuotedPrice | null;
  readonly failed: boolean;
};

export type AlchemyTokenQuery = {
  readonly wallet: Hex;
  readonly network: AlchemyNetwork;
  readonly blockTimestamp: number;
};

// The vendor refreshes within minutes; a price that is an hour old is of a dead market.
const PRICE_AGE_SECONDS_MAX = 3_600;

/** Null for an entry of another chain; throws a VendorError for an invalid one, because no balance may be lost. */
function parseAlchemyToken(entry: unknown, query: AlchemyTokenQuery): AlchemyToken | null {
  if (!isJsonObject(entry)) throw invalidResponse("a token that is not an object");
  if (entry.network !== undefined && entry.network !== query.network.name) return null;
  if (typeof entry.address === "string" && entry.address.toLowerCase() !== query.wallet.toLowerCase()) {
    throw invalidResponse("a token of another wallet");
  }
  const metadata = isJsonObject(entry.tokenMetadata) ? entry.tokenMetadata : {};
  const decimals = parseExactInteger(metadata.decimals);
  return {
    contract: parseContract(entry.tokenAddress, query.network),
    rawBalance: parseBalance(entry.tokenBalance),
    symbol: parseText(metadata.symbol, TOKEN_SYMBOL_LENGTH_MAX),
    name: parseText(metadata.name, TOKEN_NAME_LENGTH_MAX),
    decimals: decimals !== null && decimals <= DECIMALS_MAX ? decimals : null,
    logo: parseLogo(metadata.logo),
    price: parsePrice(entry, query.blockTimestamp),
    failed: entry.error !== undefined && entry.error !== null,
  };
}

function parseContract(value: unknown, { chainId }: AlchemyNetwork): Hex | null {
  if (value === null || value === undefined || value === "native") return null;
  const address = asAddress(value);
  if (address === null) throw invalidResponse("a token without a valid address");
  return isPseudoNative(chainId, address) ? null : address;
}

function parseBalance(value: unknown): bigint | null {
  if (value === null || value === undefined) return null;
  if (value === "0x") return 0n;
  const balance = parseVendorQuantity(value);
  if (balance === null) throw invalidResponse("a balance that is not a number");
  return balance;
}

/** Sanitized like the text of a contract, because the vendor repeats what the contract returns. */
function parseText(value: unknown, lengthMax: number): string | null {
  return typeof value === "string" && value.length <= UNTRUSTED_TEXT_LENGTH_MAX
    ? sanitizeText(value, lengthMax)
    : null;
}

function parseLogo(value: unknown): string | null {
  return typeof value === "string" && value.startsWith("https://") && value.length <= LOGO_LENGTH_MAX
    ? value
    : null;
}

function parsePrice({ tokenPrices }: JsonObject, blockTimestamp: number): QuotedPrice | null {
  if (!Array.isArray(tokenPrices)) return null;
  for (const quote of tokenPrices) {
    if (!isJsonObject(quote) || String(quote.currency).toLowerCase() !== "usd") continue;
    const price = parseExactDecimal(quote.value);
    const updatedMs = parseVendorTime(quote.lastUpdatedAt);
    if (price === null || price.units < 0n || updatedMs === null) continue;
    if (Math.abs(blockTimestamp - updatedMs / 1_000) > PRICE_AGE_SECONDS_MAX) continue;
    return quotePrice(price, { timestamp: Math.floor(updatedMs / 1_000) });
  }
  return null;
}

function invalidResponse(what: string): VendorError {
  return new VendorError("transient", `The response has ${what}.`);
}

// About ten thousand tokens; a wallet with more is rejected instead of shown in part.
const PAGES_MAX = 100;

type Page = { readonly tokens: readonly AlchemyToken[]; readonly next: string | null };

/** Throws a VendorError unless every page could be read completely. */
export async function readAlchemyTokens(
  client: AlchemyClient,
  query: AlchemyTokenQuery,
  signal: AbortSignal,
): Promise<readonly AlchemyToken[]> {
  const tokens: AlchemyToken[] = [];
  const seenKeys = new Set<string>();
  let pageKey: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const body = buildBody(query, pageKey);
    const parse = (payload: unknown) => parsePage(payload, query);
    const page: Page = await client.callDataApi("assets/tokens/by-address", body, parse, signal);
    tokens.push(...page.tokens);
    if (page.next === null) return tokens;
    if (seenKeys.has(page.next)) throw new VendorError("permanent", "A page key repeats.");
    seenKeys.add(page.next);
    pageKey = page.next;
  }
  throw new VendorError("permanent", `There are more than ${PAGES_MAX} pages.`);
}

function buildBody({ wallet, network }: AlchemyTokenQuery, pageKey: string | null): unknown {
  return {
    addresses: [{ address: wallet, networks: [network.name] }],
    withMetadata: true,
    withPrices: true,
    includeNativeTokens: true,
    includeErc20Tokens: true,
    ...(pageKey === null ? {} : { pageKey }),
  };
}

function parsePage(payload: unknown, query: AlchemyTokenQuery): Page {
  const data = isJsonObject(payload) ? payload.data : undefined;
  if (!isJsonObject(payload) || !isJsonObject(data) || !Array.isArray(data.tokens)) {
    throw invalidResponse("no list of tokens");
  }
  rejectPartialErrors(payload.error, query.network.name);
  const { pageKey } = data;
  if (pageKey !== undefined && pageKey !== null && typeof pageKey !== "string") {
    throw invalidResponse("an invalid page key");
  }
  const tokens = data.tokens.flatMap((entry: unknown) => parseAlchemyToken(entry, query) ?? []);
  return { tokens, next: pageKey || null };
}

// An error that names no chain may concern ours.
function rejectPartialErrors(error: unknown, network: string): void {
  const parts = isJsonObject(error) && Array.isArray(error.partialErrors) ? error.partialErrors : [];
  for (const part of parts) {
    if (!isJsonObject(part) || part.network === undefined || part.network === network) {
      throw new VendorError("transient", "The response is incomplete for this chain.");
    }
  }
}
