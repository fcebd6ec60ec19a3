// Dollar stablecoins by chain and address, never by symbol: the issuers' contracts and the canonical bridged ones.
// Pegged to the dollar one to one. Savings tokens such as sDAI rise against the dollar and are not included.
import { readChainData } from "../../chain/chain-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { shape } from "../../lib/json-shape.ts";

const stablecoin = shape.object({ symbol: shape.text, token: shape.address, lists: shape.text });

const STABLECOINS = readChainData(
  "tokens",
  "stablecoins",
  shape.list(shape.mapped(stablecoin, ({ token }) => token)),
);

export function getStablecoins(chainId: number): ReadonlySet<Hex> {
  return new Set(STABLECOINS.get(chainId));
}
