// Contract answers as 32-byte words: an answer of another shape than the asked function has is no answer.
import type { Hex } from "../hex.ts";

const WORD_DIGITS = 64;
const ADDRESS_MAX = (1n << 160n) - 1n;

/** No listed token comes near 2^128 units (340 undecillion); an amount beyond it is a broken or lying contract. */
export const AMOUNT_MAX = (1n << 128n) - 1n;

/** Exactly `count` words, else null: neither less nor more is what the asked function returns. */
export function wordsOf(answer: Hex | null | undefined, count: number): readonly bigint[] | null {
  if (!answer || answer.length !== 2 + WORD_DIGITS * count) return null;
  return Array.from({ length: count }, (_, index) => {
    const start = 2 + WORD_DIGITS * index;
    return BigInt(`0x${answer.slice(start, start + WORD_DIGITS)}`);
  });
}

/** One word, else null. */
export function wordOf(answer: Hex | null | undefined): bigint | null {
  return wordsOf(answer, 1)?.[0] ?? null;
}

/** One believable amount, else null. */
export function amountOf(answer: Hex | null | undefined): bigint | null {
  const amount = wordOf(answer);
  return amount !== null && amount <= AMOUNT_MAX ? amount : null;
}

/** One address that is not zero, else null. */
export function addressOf(answer: Hex | null | undefined): Hex | null {
  return wordAddress(wordOf(answer));
}

export function wordAddress(word: bigint | null | undefined): Hex | null {
  if (!word || word > ADDRESS_MAX) return null;
  return `0x${word.toString(16).padStart(40, "0")}`;
}

/** A dynamic array of words as the only return value, else null. */
export function listOf(answer: Hex | null | undefined, countMax: number): readonly bigint[] | null {
  const count = answer ? (answer.length - 2) / WORD_DIGITS - 2 : -1;
  if (!Number.isInteger(count) || count < 0 || count > countMax) return null;
  const [offset, length, ...items] = wordsOf(answer, count + 2) ?? [];
  return offset === 32n && length === BigInt(count) ? items : null;
}

/** A dynamic array of addresses as the only return value, else null. */
export function addressesOf(answer: Hex | null | undefined, countMax: number): readonly Hex[] | null {
  const items = listOf(answer, countMax);
  const addresses = items?.map(wordAddress).filter((address) => address !== null) ?? [];
  return addresses.length === items?.length ? addresses : null;
}

/** A signed number of `bits` bits as it is sign-extended into a word, else null. */
export function wordSigned(word: bigint | undefined, bits: number): bigint | null {
  if (word === undefined) return null;
  const signed = BigInt.asIntN(bits, word);
  return BigInt.asUintN(256, signed) === word ? signed : null;
}
