// The logs bloom of a block, as far as readers look into it.
import { keccak256 } from "viem";
import type { Hex } from "../../src/lib/hex.ts";
import type { EncodedLog } from "./abi-encoder.ts";

const BLOOM_BYTES = 256;
export const EMPTY_BLOOM: Hex = `0x${"00".repeat(BLOOM_BYTES)}`;

/**
 * Holds the emitter and the first topic of every log. A real one holds the other topics too; their hashes would take
 * longer to compute than everything else in a history, and no request names a value without knowing it.
 */
export function createBloomBuilder(): (logs: readonly EncodedLog[]) => Hex {
  const known = new Map<Hex, readonly number[]>();
  const bitsOf = (value: Hex): readonly number[] => {
    let bits = known.get(value);
    if (!bits) {
      const hash = keccak256(value, "bytes");
      bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
      known.set(value, bits);
    }
    return bits;
  };
  return (logs) => {
    const bloom = Buffer.alloc(BLOOM_BYTES);
    for (const { address, topics } of logs) {
      for (const value of [address, topics[0] ?? address]) {
        for (const bit of bitsOf(value)) {
          const at = BLOOM_BYTES - 1 - (bit >> 3);
          bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
        }
      }
    }
    return `0x${bloom.toString("hex")}`;
  };
}
