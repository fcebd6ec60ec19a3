// The chains Sextant knows, by slug and by id.
import { arbitrum } from "./arbitrum.ts";
import { base } from "./base.ts";
import { baseSepolia } from "./base-sepolia.ts";
import type { ChainInfo } from "./chain-info.ts";
import { ethereum } from "./ethereum.ts";
import { localChain } from "./local.ts";
import { optimism } from "./optimism.ts";
import { polygon } from "./polygon.ts";

export const CHAINS: readonly ChainInfo[] = [
  base,
  ethereum,
  arbitrum,
  optimism,
  polygon,
  baseSepolia,
  localChain,
];

export function findChainBySlug(slug: string): ChainInfo | null {
  return CHAINS.find((chain) => chain.slug === slug) ?? null;
}

export function findChainById(chainId: number): ChainInfo | null {
  return CHAINS.find((chain) => chain.chainId === chainId) ?? null;
}

/** What is assumed of a chain that is not among them. */
export const UNKNOWN_CHAIN_DEFAULTS = {
  finalityDepth: 64,
  finalityDepthMin: 8,
  blockTimeMs: 2_000,
  logsBloom: "complete",
} as const;
