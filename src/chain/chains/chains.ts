// The chains Sextant knows, by slug and by id.
import { arbitrum } from "./arbitrum.ts";
import { base } from "./base.ts";
import { baseSepolia } from "./base-sepolia.ts";
import type { ChainFacts } from "./chain-info.ts";
import { ethereum } from "./ethereum.ts";
import { local } from "./local.ts";
import { optimism } from "./optimism.ts";
import { polygon } from "./polygon.ts";

export const CHAINS: readonly ChainFacts[] = [
  base,
  ethereum,
  arbitrum,
  optimism,
  polygon,
  baseSepolia,
  local,
];

export function chainBySlug(slug: string): ChainFacts | null {
  return CHAINS.find((chain) => chain.slug === slug) ?? null;
}

export function chainById(chainId: number): ChainFacts | null {
  return CHAINS.find((chain) => chain.chainId === chainId) ?? null;
}

/** What is assumed of a chain that is not among them. */
export const UNKNOWN_CHAIN = {
  finalityDepth: 64,
  finalityDepthMin: 8,
  blockTimeMs: 2_000,
  logsBloom: "complete",
} as const;
