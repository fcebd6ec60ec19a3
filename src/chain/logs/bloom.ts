// The logs bloom of a block: proves what the block does not contain, and suggests what it may.
import { keccak256 } from "viem";
import type { Hex } from "../../lib/hex.ts";

/** Three bit positions out of 2048. */
export type BloomBits = readonly [number, number, number];

// Hashing costs far more than a lookup. Contracts and topics are few; other accounts come and go.
const CACHED_MAX = 20_000;
const cached = new Map<Hex, BloomBits>();

/** Whether the bloom may contain the value (an address or a topic); false is certain. */
export function bloomMayContain(bloom: Hex, value: Hex): boolean {
  return bloomHasBits(bloom, computeBloomBits(value));
}

/** The same for bits computed before. */
export function bloomHasBits(bloom: Hex, [a, b, c]: BloomBits): boolean {
  return isSet(bloom, a) && isSet(bloom, b) && isSet(bloom, c);
}

/**
 * How likely the bloom says "maybe" to an address and a topic that are not there: six bits set by others. On a busy
 * chain blooms are nearly full, and their "maybe" says next to nothing.
 */
export function estimateBloomFalsePositiveRate(bloom: Hex): number {
  let set = 0;
  for (let i = 2; i < bloom.length; i += 1) set += BITS_OF_DIGIT[digit(bloom, i)] ?? 0;
  return (set / 2048) ** 6;
}

const BITS_OF_DIGIT = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/** The bits that a value sets in a bloom. */
export function computeBloomBits(value: Hex): BloomBits {
  const known = cached.get(value);
  if (known) return known;
  const hash = keccak256(value);
  const at = (pair: number) => Number.parseInt(hash.slice(2 + pair * 4, 6 + pair * 4), 16) & 2047;
  const bits: BloomBits = [at(0), at(1), at(2)];
  if (cached.size >= CACHED_MAX) cached.clear();
  cached.set(value, bits);
  return bits;
}

// Bit 0 is the lowest bit of the last byte, so positions count from the end of the text.
function isSet(bloom: Hex, bit: number): boolean {
  return (digit(bloom, 513 - (bit >> 2)) & (1 << (bit & 3))) !== 0;
}

function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code <= 57 ? code - 48 : code - 87;
}
