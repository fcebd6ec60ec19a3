// One token as Alchemy describes it: a balance to the last unit, what it is called, and what it costs.
import type { Decimal } from "../../../lib/decimal.ts";
import { parseExactDecimal, parseExactInteger } from "../../../lib/exact-json.ts";
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../../lib/json-object.ts";
import { isPseudoNative } from "../../tokens/pseudo-native.ts";
import { VendorError } from "../../vendor-request.ts";
import type { AlchemyNetwork } from "./networks.ts";

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
