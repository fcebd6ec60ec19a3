// Ethereum, the main chain.
import type { ChainFacts } from "./chain-facts.ts";

export const ethereum: ChainFacts = {
  slug: "ethereum",
  chainId: 1,
  name: "Ethereum",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // Two epochs make a block final; half an epoch more for missed slots.
  finalityDepth: 80,
  blockTimeMs: 12_000,
  logsBloom: "complete",
  explorerTxUrl: "https://etherscan.io/tx/{hash}",
  mainnet: true,
};
