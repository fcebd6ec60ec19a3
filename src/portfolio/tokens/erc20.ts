// The read functions of ERC-20, and a token's symbol, name and decimals as its contract returns them, sanitized.
import { decodeByteString, decodeTokenAmount, decodeWord } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { defineRead, joinReads, type Reads } from "../contract-reads/reads.ts";
import type { TokenMetadata } from "../types.ts";

// A long name behind several proxies takes about 60,000. A token that needs more stays without metadata.
const METADATA_GAS_MAX = 150_000;

// Longer than any symbol or name of a listed token (22 and 55), short enough for a table.
export const TOKEN_SYMBOL_LENGTH_MAX = 32;
export const TOKEN_NAME_LENGTH_MAX = 80;

export const erc20 = {
  balanceOf: defineRead("function balanceOf(address)", decodeTokenAmount),
  totalSupply: defineRead("function totalSupply()", decodeTokenAmount),
};

const metadata = {
  decimals: defineRead("function decimals()", decodeTokenDecimals, METADATA_GAS_MAX),
  symbol: defineRead(
    "function symbol()",
    (data) => decodeTokenText(data, TOKEN_SYMBOL_LENGTH_MAX),
    METADATA_GAS_MAX,
  ),
  name: defineRead(
    "function name()",
    (data) => decodeTokenText(data, TOKEN_NAME_LENGTH_MAX),
    METADATA_GAS_MAX,
  ),
};

// A longer text is not a name: ignore it instead of truncating it.
const TEXT_BYTES_MAX = 1_024;

/** The largest value of ERC-20's uint8 decimals. */
export const DECIMALS_MAX = 255;

const WORD = 32;

/** Each call has a gas limit, because anyone may deploy a token. */
export function declareMetadata(contract: Hex): Reads<TokenMetadata> {
  return joinReads({
    decimals: metadata.decimals(contract),
    symbol: metadata.symbol(contract),
    name: metadata.name(contract),
  });
}

/** Exactly one word that fits a byte: truncating 274 to 18 would shift the decimal point of every balance. */
export function decodeTokenDecimals(returnData: Hex | null | undefined): number | null {
  const value = decodeWord(returnData);
  return value !== null && value <= BigInt(DECIMALS_MAX) ? Number(value) : null;
}

/** An ABI string, or the zero-terminated bytes32 of old tokens; null for anything else. */
export function decodeTokenText(returnData: Hex | null | undefined, lengthMax: number): string | null {
  // Twice the limit allows for offset, length and padding.
  if (!returnData || returnData.length > 2 + 2 * 2 * TEXT_BYTES_MAX) return null;
  const text =
    returnData.length === 2 + 2 * WORD
      ? untilZero(Buffer.from(returnData.slice(2), "hex"))
      : decodeByteString(returnData, TEXT_BYTES_MAX);
  return text === null ? null : sanitizeText(new TextDecoder().decode(text), lengthMax);
}

function untilZero(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

// Control, format (bidi overrides, zero widths, tags), invisible (variation selectors, fillers), private-use and
// unassigned characters, lone surrogates, and the replacement character for invalid bytes.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\p{Co}\p{Cn}\p{Cs}\uFFFD]/gu;

// Longer than any honest symbol, name or logo URL from a list or vendor: such a text is rejected instead of truncated.
export const UNTRUSTED_TEXT_LENGTH_MAX = 256;
export const LOGO_LENGTH_MAX = 2_048;

/** For names that anyone may choose. Null when no printable text is left. Counts code points, so that none is cut in half. */
export function sanitizeText(text: string, lengthMax: number): string | null {
  // Line breaks and tabs separate words, so they become spaces.
  const printable = text.replaceAll(/\s+/gu, " ").replaceAll(UNPRINTABLE, "").trim();
  return Array.from(printable).slice(0, lengthMax).join("").trim() || null;
}
