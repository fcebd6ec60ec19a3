// Addresses that stand for a chain's own coin: shown as tokens, they would count the coin twice.
import type { Hex } from "../../lib/hex.ts";

const EVERYWHERE: ReadonlySet<Hex> = new Set<Hex>([
  "0x0000000000000000000000000000000000000000",
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
]);

const BY_CHAIN: ReadonlyMap<number, Hex> = new Map<number, Hex>([
  [10, "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000"],
  [137, "0x0000000000000000000000000000000000001010"],
]);

/** For a lower-case address. */
export function isPseudoNative(chainId: number, address: Hex): boolean {
  return EVERYWHERE.has(address) || BY_CHAIN.get(chainId) === address;
}
