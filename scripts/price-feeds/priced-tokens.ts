// The tokens whose dollar feed is pinned: those of the data files, each with the path of its feed in Chainlink's directory.
// To add one, add a row with its symbol and address to `chain-data/<slug>/price-feeds.json` and renew the feeds.
// A token is there when at least three public token lists of 2026 (those we ship, Uniswap's, CoinGecko's, Optimism's, 1inch's,
// CoW's) have exactly this address under the feed's asset, or Aave's address book or Euler's oracle checks do. Not there,
// because the feed prices another asset than the token: BNB and SOL bridged to Ethereum, FXS, tokens that the chain knows twice.
import { readFileSync } from "node:fs";
import { findChainBySlug } from "../../src/chain/chains/chains.ts";
import { assertDefined } from "../../src/lib/assert-defined.ts";
import type { Hex } from "../../src/lib/hex.ts";

type PricedToken = { readonly symbol: string; readonly token: Hex };

export type PricedChain = {
  readonly slug: string;
  readonly chainId: number;
  readonly wrappedNative: Hex;
  readonly nativePath: string;
  /** Used while the feed of the native coin gives no price. */
  readonly nativeFallbackPath: string | null;
  readonly sequencer: Hex | null;
  /** Without the wrapped native coin, which has the feed of the native coin. */
  readonly tokens: readonly PricedToken[];
};

function readChain(slug: string, nativePath: string, nativeFallbackPath: string | null = null): PricedChain {
  const { chainId, wrappedNative } = assertDefined(findChainBySlug(slug), slug);
  const file = JSON.parse(readFileSync(`chain-data/${slug}/price-feeds.json`, "utf8"));
  const { sequencer, tokens } = file.chainlink.data as Pick<PricedChain, "sequencer" | "tokens">;
  const known = { wrappedNative: assertDefined(wrappedNative, slug), sequencer, tokens };
  return { slug, chainId, nativePath, nativeFallbackPath, ...known };
}

export const PRICED_CHAINS: readonly PricedChain[] = [
  readChain("ethereum", "eth-usd"),
  readChain("optimism", "eth-usd"),
  readChain("polygon", "matic-usd"),
  readChain("base", "eth-usd", "eth-usd-svr"),
  readChain("arbitrum", "eth-usd"),
];

/** The directory names a feed by its asset. */
export function findFeedPath({ symbol }: PricedToken): string {
  return symbol === "WETH" ? "eth-usd" : `${symbol.toLowerCase()}-usd`;
}
