// Decodes ABI words: strict readers for the types that events use, fast on plain hex text.
import type { Hex } from "../../lib/hex.ts";

/** The payload does not follow the ABI's canonical form. */
export class MalformedAbiError extends Error {}

/** Hex digits of one 32-byte word. */
const WORD = 64;
// viem's convention, as in the generated types: up to 48 bits is a number, wider is a bigint.
const NUMBER_BITS_MAX = 48;

type WordReader = (word: string) => unknown;

/** A reader for a static ABI type; null for a dynamic one. */
export function createWordReader(type: string): WordReader | null {
  if (type === "address") return (word) => `0x${padded(word, 40)}`;
  if (type === "bool") return readBool;
  const uint = /^uint(\d+)$/.exec(type);
  if (uint) return uintReader(Number(uint[1]));
  const fixedBytes = /^bytes(\d+)$/.exec(type);
  if (fixedBytes) return fixedBytesReader(Number(fixedBytes[1]) * 2);
  return null;
}

function uintReader(bits: number): WordReader {
  const digits = bits / 4;
  if (bits <= NUMBER_BITS_MAX) return (word) => Number.parseInt(padded(word, digits), 16);
  return (word) => BigInt(`0x${padded(word, digits)}`);
}

function fixedBytesReader(digits: number): WordReader {
  return (word) => {
    if (digits < WORD && !isZero(word.slice(digits)))
      throw new MalformedAbiError("bytes are not padded with zeros");
    return `0x${word.slice(0, digits)}`;
  };
}

function readBool(word: string): boolean {
  const digit = padded(word, 1);
  if (digit !== "0" && digit !== "1") throw new MalformedAbiError("a boolean is neither 0 nor 1");
  return digit === "1";
}

function padded(word: string, digits: number): string {
  if (digits < WORD && !isZero(word.slice(0, WORD - digits)))
    throw new MalformedAbiError("a value is out of its range");
  return word.slice(WORD - digits);
}

const ZEROS = "0".repeat(WORD);

function isZero(text: string): boolean {
  return ZEROS.startsWith(text);
}

/** The word at a digit of the payload (hex without 0x). */
export function readWord(payload: string, digit: number): string {
  const word = payload.slice(digit, digit + WORD);
  if (word.length !== WORD) throw new MalformedAbiError("the payload is too short");
  return word;
}

/** The bytes that a dynamic value's offset word points to. */
export function readDynamicBytes(payload: string, offsetWord: string): string {
  const start = lengthOf(offsetWord) * 2;
  const length = lengthOf(readWord(payload, start)) * 2;
  const text = payload.slice(start + WORD, start + WORD + length);
  if (text.length !== length) throw new MalformedAbiError("a dynamic value is too short");
  return text;
}

/**
 * Text that PostgreSQL and JSON can hold: invalid UTF-8 and NUL become U+FFFD. A hostile name must not stop the index;
 * the stored log has the exact bytes.
 */
export function decodeStorableText(hexDigits: string): string {
  return toStorableText(Buffer.from(hexDigits, "hex").toString("utf8"));
}

export function toStorableText(text: string): string {
  return text.replaceAll("\u0000", "\ufffd");
}

export function addHexPrefix(hexDigits: string): Hex {
  return `0x${hexDigits}`;
}

function lengthOf(word: string): number {
  return Number.parseInt(padded(word, NUMBER_BITS_MAX / 4), 16);
}
