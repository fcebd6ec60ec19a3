// Addresses that represent a chain's native coin: listed as tokens, they would count the coin twice.
import type { Hex } from "../../lib/hex.ts";

const ON_ALL_CHAINS: ReadonlySet<Hex> = new Set<Hex>([
  "0x0000000000000000000000000000000000000000",
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
]);

const BY_CHAIN: ReadonlyMap<number, Hex> = new Map<number, Hex>([
  [10, "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000"],
  [137, "0x0000000000000000000000000000000000001010"],
]);

/** For a lower-case address. */
export function isPseudoNative(chainId: number, address: Hex): boolean {
  return ON_ALL_CHAINS.has(address) || BY_CHAIN.get(chainId) === address;
}
