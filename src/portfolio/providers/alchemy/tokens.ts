// Every token of a wallet on one chain, page after page, to the end or not at all.
import type { Decimal } from "../../../lib/decimal.ts";
import { parseExactDecimal, parseExactInteger } from "../../../lib/exact-json.ts";
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { isPseudoNative } from "../../tokens/pseudo-native.ts";
import { VendorError } from "../../vendor-request.ts";
import type { AlchemyClient } from "./client.ts";
import type { AlchemyNetwork } from "./networks.ts";

// One token as Alchemy describes it: a balance to the last unit, what it is called, and what it costs.

export type AlchemyToken = {
  /** Null is the native coin, however it was written. */
  readonly contract: Hex | null;
  /** Null when the vendor sent none. */
  readonly rawBalance: bigint | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly priceUsd: Decimal | null;
  readonly failed: boolean;
};

export type AlchemyTokenQuery = {
  readonly wallet: Hex;
  readonly network: AlchemyNetwork;
  readonly blockTimestamp: number;
};

// Longer than any honest name or picture address; a stranger chose these texts.
const TEXT_LENGTH_MAX = 256;
const LOGO_LENGTH_MAX = 2_048;
const DECIMALS_MAX = 255;
// The vendor refreshes within minutes; a price that stood still for an hour is of a market that did, too.
const PRICE_AGE_SECONDS_MAX = 3_600;

/** Null for another chain's entry; throws a VendorError for what can not be understood, because nothing may be lost. */
export function parseAlchemyToken(entry: unknown, question: AlchemyTokenQuery): AlchemyToken | null {
  if (!isJsonObject(entry)) throw garbled("a token that is no object");
  if (entry.network !== undefined && entry.network !== question.network.name) return null;
  if (typeof entry.address === "string" && entry.address.toLowerCase() !== question.wallet.toLowerCase()) {
    throw garbled("a token of another wallet");
  }
  const metadata = isJsonObject(entry.tokenMetadata) ? entry.tokenMetadata : {};
  const decimals = parseExactInteger(metadata.decimals);
  return {
    contract: readContract(entry.tokenAddress, question.network),
    rawBalance: readBalance(entry.tokenBalance),
    symbol: readText(metadata.symbol),
    name: readText(metadata.name),
    decimals: decimals !== null && decimals <= DECIMALS_MAX ? decimals : null,
    logo: readLogo(metadata.logo),
    priceUsd: readPrice(entry, question.blockTimestamp),
    failed: entry.error !== undefined && entry.error !== null,
  };
}

function readContract(value: unknown, { chainId }: AlchemyNetwork): Hex | null {
  if (value === null || value === undefined || value === "native") return null;
  const address = typeof value === "string" ? value.toLowerCase() : "";
  if (!/^0x[0-9a-f]{40}$/.test(address)) throw garbled("a token without a readable address");
  return isPseudoNative(chainId, address as Hex) ? null : (address as Hex);
}

function readBalance(value: unknown): bigint | null {
  if (value === null || value === undefined) return null;
  if (value === "0x") return 0n;
  if (typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value);
  throw garbled("a balance that is no number");
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= TEXT_LENGTH_MAX ? value : null;
}

function readLogo(value: unknown): string | null {
  return typeof value === "string" && value.startsWith("https://") && value.length <= LOGO_LENGTH_MAX
    ? value
    : null;
}

function readPrice({ tokenPrices }: JsonObject, blockTimestamp: number): Decimal | null {
  if (!Array.isArray(tokenPrices)) return null;
  for (const quote of tokenPrices) {
    if (!isJsonObject(quote) || String(quote.currency).toLowerCase() !== "usd") continue;
    const price = parseExactDecimal(quote.value);
    const updatedMs = typeof quote.lastUpdatedAt === "string" ? Date.parse(quote.lastUpdatedAt) : Number.NaN;
    const ageSeconds = blockTimestamp - updatedMs / 1_000;
    // Written so that an unreadable time, which is not a number, fails too.
    if (price !== null && price.units >= 0n && Math.abs(ageSeconds) <= PRICE_AGE_SECONDS_MAX) return price;
  }
  return null;
}

function garbled(what: string): VendorError {
  return new VendorError("unreliable", `The answer has ${what}.`);
}

// About ten thousand tokens; whoever holds more is not served half.
const PAGES_MAX = 100;

type Page = { readonly tokens: readonly AlchemyToken[]; readonly next: string | null };

/** Throws a VendorError unless every page was read and none of them is incomplete. */
export async function readAlchemyTokens(
  client: AlchemyClient,
  question: AlchemyTokenQuery,
  signal: AbortSignal,
): Promise<readonly AlchemyToken[]> {
  const tokens: AlchemyToken[] = [];
  const followed = new Set<string>();
  let pageKey: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const body = bodyOf(question, pageKey);
    const read = (answer: unknown) => readPage(answer, question);
    const page: Page = await client.callDataApi("assets/tokens/by-address", body, read, signal);
    tokens.push(...page.tokens);
    if (page.next === null) return tokens;
    if (followed.has(page.next)) throw new VendorError("refused", "A page names one that was read before.");
    followed.add(page.next);
    pageKey = page.next;
  }
  throw new VendorError("refused", `There are more than ${PAGES_MAX} pages.`);
}

function bodyOf({ wallet, network }: AlchemyTokenQuery, pageKey: string | null): unknown {
  return {
    addresses: [{ address: wallet, networks: [network.name] }],
    withMetadata: true,
    withPrices: true,
    includeNativeTokens: true,
    includeErc20Tokens: true,
    ...(pageKey === null ? {} : { pageKey }),
  };
}

function readPage(answer: unknown, question: AlchemyTokenQuery): Page {
  const data = isJsonObject(answer) ? answer.data : undefined;
  if (!isJsonObject(answer) || !isJsonObject(data) || !Array.isArray(data.tokens)) {
    throw new VendorError("unreliable", "The answer has no list of tokens.");
  }
  refusePartial(answer.error, question.network.name);
  const { pageKey } = data;
  if (pageKey !== undefined && pageKey !== null && typeof pageKey !== "string") {
    throw new VendorError("unreliable", "The answer names no readable next page.");
  }
  const tokens = data.tokens.flatMap((entry: unknown) => parseAlchemyToken(entry, question) ?? []);
  return { tokens, next: pageKey || null };
}

// An error that names no chain may be about ours.
function refusePartial(error: unknown, network: string): void {
  const parts = isJsonObject(error) && Array.isArray(error.partialErrors) ? error.partialErrors : [];
  for (const part of parts) {
    if (!isJsonObject(part) || part.network === undefined || part.network === network) {
      throw new VendorError("unreliable", "The answer leaves out a part of the chain.");
    }
  }
}
