// Polygon PoS: its state-sync logs are reported by nodes but are not in the blooms.
import type { ChainInfo } from "./chain-info.ts";

export const polygon: ChainInfo = {
  slug: "polygon",
  chainId: 137,
  name: "Polygon",
  native: { symbol: "POL", name: "POL", decimals: 18 },
  // Deeper than any reorg seen there (157 blocks in 2023).
  finalityDepth: 512,
  // Milestones finalize within seconds; half a minute costs nothing and outlasts a short fork.
  finalityDepthMin: 16,
  blockTimeMs: 2_000,
  logsBloom: "partial",
  explorerTxUrl: "https://polygonscan.com/tx/{hash}",
  publicRpcUrl: "https://polygon.drpc.org",
  mainnet: true,
  // Validators require a tip of at least 25 gwei; base fees of several hundred gwei occur and cost a fraction of a cent.
  gas: { feePerGasMax: 1_000_000_000_000n, priorityFeePerGasMax: 100_000_000_000n },
};
