// Base Sepolia, the public test chain of Base.
import type { ChainInfo } from "./chain-info.ts";

export const baseSepolia: ChainInfo = {
  slug: "base-sepolia",
  chainId: 84532,
  name: "Base Sepolia",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // About an hour: a batch has to reach Ethereum and be final there, which takes some twenty minutes.
  finalityDepth: 1_800,
  // The tag follows Ethereum's and is at least ten minutes behind; two minutes is safely less.
  finalityDepthMin: 64,
  blockTimeMs: 2_000,
  logsBloom: "complete",
  explorerTxUrl: "https://sepolia.basescan.org/tx/{hash}",
  publicRpcUrl: "https://sepolia.base.org",
  mainnet: false,
  // Coins of a test chain are free but few; its fees follow nothing in particular.
  gas: { feePerGasMax: 5_000_000_000n, priorityFeePerGasMax: 500_000_000n },
};
