// Return data of untrusted contracts: null instead of an error for data of another shape than the function returns.
import type { Hex } from "../hex.ts";
import { createParametersCodec } from "./codec.ts";
import { nullIfMalformed, ZERO_WORD } from "./words.ts";

const WORD_DIGITS = 64;
const ADDRESS_MAX = (1n << 160n) - 1n;

/** No listed token comes near 2^128 units (340 undecillion); an amount beyond it is a broken or lying contract. */
export const TOKEN_AMOUNT_MAX = (1n << 128n) - 1n;

/** So many words; a list of any length if the number is not known to the compiler. */
export type Words<N extends number, Found extends readonly bigint[] = readonly []> = number extends N
  ? readonly bigint[]
  : Found["length"] extends N
    ? Found
    : Words<N, readonly [...Found, bigint]>;

/** Exactly `count` words, else null: the called function returns neither fewer nor more. */
export function decodeWords<const N extends number>(data: Hex | null | undefined, count: N): Words<N> | null {
  if (!data || data.length !== 2 + WORD_DIGITS * count) return null;
  const words: readonly bigint[] = Array.from({ length: count }, (_, index) => {
    const start = 2 + WORD_DIGITS * index;
    return BigInt(`0x${data.slice(start, start + WORD_DIGITS)}`);
  });
  return words as Words<N>;
}

/** One word, else null. */
export function decodeWord(data: Hex | null | undefined): bigint | null {
  if (!data || data.length !== ZERO_WORD.length) return null;
  // Nearly every balance: a text that is compared makes no garbage, and parsing it does.
  return data === ZERO_WORD ? 0n : BigInt(data);
}

/** The first word, whatever follows it, as Solidity decodes a number; null when there is none. */
export function decodeFirstWord(data: Hex | null | undefined): bigint | null {
  return decodeWord(data?.slice(0, 2 + WORD_DIGITS) as Hex | undefined);
}

/** One word that is 0 or 1, else null. */
export function decodeBoolean(data: Hex | null | undefined): boolean | null {
  const word = decodeWord(data);
  return word === 1n ? true : word === 0n ? false : null;
}

/** One plausible amount, else null. */
export function decodeTokenAmount(data: Hex | null | undefined): bigint | null {
  const amount = decodeWord(data);
  return amount !== null && amount <= TOKEN_AMOUNT_MAX ? amount : null;
}

/** One address that is not zero, else null. */
export function decodeAddress(data: Hex | null | undefined): Hex | null {
  return wordToAddress(decodeWord(data));
}

export function wordToAddress(word: bigint | null | undefined): Hex | null {
  if (!word || word > ADDRESS_MAX) return null;
  return `0x${word.toString(16).padStart(40, "0")}`;
}

/** A dynamic array of words as the only return value, else null. */
export function decodeWordArray(data: Hex | null | undefined, countMax: number): readonly bigint[] | null {
  const count = data ? (data.length - 2) / WORD_DIGITS - 2 : -1;
  if (!Number.isInteger(count) || count < 0 || count > countMax) return null;
  const [offset, length, ...items] = decodeWords(data, count + 2) ?? [];
  return offset === 32n && length === BigInt(count) ? items : null;
}

/** A dynamic array of addresses as the only return value, else null. */
export function decodeAddressArray(data: Hex | null | undefined, countMax: number): readonly Hex[] | null {
  const items = decodeWordArray(data, countMax);
  const addresses = items?.map(wordToAddress).filter((address) => address !== null) ?? [];
  return addresses.length === items?.length ? addresses : null;
}

const oneByteString = createParametersCodec([{ type: "bytes" }]);

/** The bytes of a `bytes` or `string` as the first return value, at most `bytesMax` of them; else null. */
export function decodeByteString(data: Hex | null | undefined, bytesMax: number): Buffer | null {
  const decoded = data && nullIfMalformed(() => oneByteString.decode(data));
  if (!decoded) return null;
  const bytes = Buffer.from(String(decoded[0]).slice(2), "hex");
  return bytes.length <= bytesMax ? bytes : null;
}

/** A signed number of `bits` bits as it is sign-extended into a word, else null. */
export function wordToSigned(word: bigint | undefined, bits: number): bigint | null {
  if (word === undefined) return null;
  const signed = BigInt.asIntN(bits, word);
  return BigInt.asUintN(256, signed) === word ? signed : null;
}
