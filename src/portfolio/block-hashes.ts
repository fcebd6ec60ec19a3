// Hashes of the blocks that responses were read at, for those that show only the number: proofs must be of the same block.
import type { Hex } from "../lib/hex.ts";

/** Keyed by the part of a response that names the block. */
const hashes = new WeakMap<object, Hex>();

/** Remembers the hash as long as the part exists. */
export function withBlockHash<Part extends object>(part: Part, hash: Hex): Part {
  hashes.set(part, hash);
  return part;
}

/** Null for a part that was not read here. */
export function blockHashOf(part: object): Hex | null {
  return hashes.get(part) ?? null;
}
