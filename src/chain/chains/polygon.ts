// Polygon PoS: its state-sync logs are reported by nodes but are not in the blooms.
import type { ChainFacts } from "./chain-facts.ts";

export const polygon: ChainFacts = {
  slug: "polygon",
  chainId: 137,
  name: "Polygon",
  native: { symbol: "POL", name: "POL", decimals: 18 },
  // Deeper than any reorg seen there (157 blocks in 2023).
  finalityDepth: 512,
  blockTimeMs: 2_000,
  logsBloom: "partial",
  explorerTxUrl: "https://polygonscan.com/tx/{hash}",
  mainnet: true,
};
