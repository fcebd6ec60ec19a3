// Many calls as one: what Multicall3 takes and returns.
// A snapshot has hundreds of them: by hand, encoding takes a quarter of the codec's time and decoding a half (aggregate3.bench.ts).
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { createFunctionCodec } from "../lib/abi/codec.ts";
import {
  addressToTopic,
  encodeByteString,
  encodeLength,
  nullIfMalformed,
  readByteString,
  readFlag,
  readLength,
} from "../lib/abi/words.ts";
import type { Hex } from "../lib/hex.ts";

/** The same address on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const { selector } = createFunctionCodec(multicall3Abi, "aggregate3");

const WORD_BYTES = 32;
const WORD_DIGITS = 2 * WORD_BYTES;
const LIST_OFFSET = encodeLength(WORD_BYTES);
/** Behind the target of each call: it may fail, and its data follows these three words. */
const MAY_FAIL = encodeLength(1) + encodeLength(3 * WORD_BYTES);

/** Every call may fail without failing the others. */
export function encodeAggregate3(calls: readonly { readonly to: Hex; readonly data: Hex }[]): Hex {
  let offsets = "";
  let tuples = "";
  let offset = calls.length * WORD_BYTES;
  // Neighbours often have the same data: a balance of one wallet in many tokens.
  let lastData: Hex | null = null;
  let tail = "";
  for (const { to, data } of calls) {
    if (data !== lastData) {
      tail = MAY_FAIL + encodeByteString(data);
      lastData = data;
    }
    offsets += encodeLength(offset);
    tuples += addressToTopic(to).slice(2) + tail;
    offset += WORD_BYTES + tail.length / 2;
  }
  return `${selector}${LIST_OFFSET}${encodeLength(calls.length)}${offsets}${tuples}`;
}

/** Null for each call that failed; null as a whole when the data is not the result of `count` calls. */
export function decodeAggregate3(returnData: Hex, count: number): readonly (Hex | null)[] | null {
  // Before anything is decoded: a hostile contract may claim as many results as the response has words.
  if (!returnData.startsWith(`0x${LIST_OFFSET}${encodeLength(count)}`)) return null;
  return nullIfMalformed(() => decodeResults(returnData, count));
}

function decodeResults(returnData: Hex, count: number): readonly (Hex | null)[] {
  const start = 2 + 2 * WORD_DIGITS;
  const results: (Hex | null)[] = [];
  for (let slot = start; results.length < count; slot += WORD_DIGITS) {
    const tuple = start + readLength(returnData, slot) * 2;
    const isSuccess = readFlag(returnData, tuple);
    const own = readByteString(returnData, tuple + readLength(returnData, tuple + WORD_DIGITS) * 2);
    results.push(isSuccess ? own : null);
  }
  return results;
}
