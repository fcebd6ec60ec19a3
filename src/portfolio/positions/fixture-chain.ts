// The wallet, tokens and chain configuration that the position fixtures share.
import type { Hex } from "../../lib/hex.ts";
import type { ChainConfig, ListedToken } from "../types.ts";

export const FIXTURE_WALLET: Hex = "0x1111111111111111111111111111111111111111";

export function fixtureToken(contract: Hex, symbol: string, decimals: number, name = symbol): ListedToken {
  return { contract, symbol, name, decimals, logo: null };
}

export function fixtureChainConfig(
  chainId: number,
  name: string,
  tokens: readonly ListedToken[],
): ChainConfig {
  return {
    slug: name.toLowerCase(),
    chainId,
    name,
    native: { symbol: "ETH", name: "Ether", decimals: 18 },
    blockTimeMs: 12_000,
    explorerTxUrl: null,
    tokens: new Map(tokens.map((token) => [token.contract, token])),
    stablecoins: new Set(),
  };
}
