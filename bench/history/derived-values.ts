// Hash-like values from a seed, a name and a number: reproducible, unique per number, and cheap by the million.
import type { Hex } from "../../src/lib/hex.ts";

export type DerivedValues = {
  /** 32 bytes that belong to the n-th thing of that name. */
  hash(name: string, n: number): Hex;
  /** 20 bytes, likewise. */
  address(name: string, n: number): Hex;
  /** 32 bytes that end with the numbers they were made from, so that a node needs no table to look them up. */
  hashOfPlace(name: string, block: number, index: number): Hex;
};

const HASH_WORDS = 8;
const ADDRESS_WORDS = 5;
const PLACE_WORDS = 5;

/** Real hashes would cost more than everything else here, and nothing recomputes these. */
export function createDerivedValues(seed: number): DerivedValues {
  const salts = new Map<string, number>();
  const saltOf = (name: string): number => {
    let salt = salts.get(name);
    if (salt === undefined) {
      salt = seed;
      for (let i = 0; i < name.length; i += 1) salt = mixed(salt ^ name.charCodeAt(i));
      salts.set(name, salt);
    }
    return salt;
  };
  // The first word is a bijection of n, so that no two numbers of a name ever share a value.
  const digits = (name: string, n: number, words: number): string => {
    const salt = saltOf(name);
    let word = mixed(n ^ salt);
    let text = word32(word);
    for (let i = 1; i < words; i += 1) {
      word = mixed(word + Math.imul(i, 0x9e3779b9) + salt);
      text += word32(word);
    }
    return text;
  };
  return {
    hash: (name, n) => `0x${digits(name, n, HASH_WORDS)}`,
    address: (name, n) => `0x${digits(name, n, ADDRESS_WORDS)}`,
    hashOfPlace: (name, block, index) =>
      `0x${digits(name, Math.imul(block, 0x10001) + index, PLACE_WORDS)}${block.toString(16).padStart(12, "0")}${index.toString(16).padStart(12, "0")}`,
  };
}

/** The numbers that a hash was made from. */
export function logPositionOf(hash: string): { readonly block: number; readonly index: number } {
  return { block: Number.parseInt(hash.slice(42, 54), 16), index: Number.parseInt(hash.slice(54), 16) };
}

/** Every 32-bit number to another one, without two meeting (the finaliser of MurmurHash3). */
function mixed(value: number): number {
  let word = value >>> 0;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

// Four digits at a time from a table: formatting numbers would be most of the cost.
const DIGITS = Array.from({ length: 0x10000 }, (_, n) => n.toString(16).padStart(4, "0"));

function word32(word: number): string {
  return `${DIGITS[word >>> 16]}${DIGITS[word & 0xffff]}`;
}
