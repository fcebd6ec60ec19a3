// Multicall3's aggregate3, word by word: a general encoder looks at every address and byte again, hundreds of times.
import type { Hex } from "../lib/hex.ts";
import type { ContractRead } from "./types.ts";

/** Where it stands on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const AGGREGATE3 = "0x82ad56cb";
const WORD = 64;
const word = (value: number) => value.toString(16).padStart(WORD, "0");
const FIRST = word(32);
const YES = word(1);
/** Where a call's bytes begin: after target, permission to fail, and this offset. */
const CALL_BYTES = word(3 * 32);
const ADDRESS_PADDING = "0".repeat(24);

/** Each call may fail alone. */
export function encodeAggregate3(calls: readonly Pick<ContractRead, "to" | "data">[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = calls.length * 32;
  for (const { to, data } of calls) {
    const digits = data.slice(2);
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, "0");
    offsets.push(word(offset));
    tuples.push(ADDRESS_PADDING, to.slice(2), YES, CALL_BYTES, word(digits.length / 2), padded);
    offset += 4 * 32 + padded.length / 2;
  }
  return `${AGGREGATE3}${FIRST}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/** Null for a call that failed; null for the whole where it is not the answer to so many calls. */
export function decodeAggregate3(answer: Hex, count: number): readonly (Hex | null)[] | null {
  const digits = answer.slice(2);
  /** A number that points into the answer; anything larger is none. */
  const at = (place: number): number => {
    const text = digits.slice(place, place + WORD);
    return text.length === WORD && /^0{56}/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  };
  const list = at(0) * 2;
  if (at(list) !== count) return null;
  const base = list + WORD;
  const results: (Hex | null)[] = [];
  for (let index = 0; index < count; index += 1) {
    const tuple = base + at(base + index * WORD) * 2;
    const succeeded = at(tuple);
    const bytes = tuple + at(tuple + WORD) * 2;
    const from = bytes + WORD;
    const to = from + at(bytes) * 2;
    if (!(succeeded === 0 || succeeded === 1) || !(to <= digits.length)) return null;
    results.push(succeeded === 1 ? `0x${digits.slice(from, to)}` : null);
  }
  return results;
}
