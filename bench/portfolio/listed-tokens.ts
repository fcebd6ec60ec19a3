// Token lists of any length: those that the wallet holds come first, then as many as are wanted that it does not.
import { type Hex, toHex } from "viem";
import type { ListedToken } from "../../src/portfolio/types.ts";

export function buildTokenList(held: readonly ListedToken[], length: number): readonly ListedToken[] {
  const others = Math.max(0, length - held.length);
  const rest = Array.from({ length: others }, (_, i) => buildListedToken(addressOf(i), `E${i}`, 18));
  return [...held.slice(0, length), ...rest];
}

export function buildListedToken(contract: Hex, symbol: string, decimals: number): ListedToken {
  return { contract, symbol, name: `${symbol} token`, decimals, logo: null };
}

/** Spread over all addresses, as real ones are. */
function addressOf(index: number): Hex {
  const mixed = (BigInt(index + 1) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn) & ((1n << 160n) - 1n);
  return toHex(mixed, { size: 20 });
}
