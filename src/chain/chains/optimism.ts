// OP Mainnet.
import type { ChainInfo } from "./chain-info.ts";

export const optimism: ChainInfo = {
  slug: "optimism",
  chainId: 10,
  name: "OP Mainnet",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // About an hour: a batch has to reach Ethereum and be final there, which takes some twenty minutes.
  finalityDepth: 1_800,
  // The tag follows Ethereum's and is at least ten minutes behind; two minutes is safely less.
  finalityDepthMin: 64,
  blockTimeMs: 2_000,
  logsBloom: "complete",
  explorerTxUrl: "https://optimistic.etherscan.io/tx/{hash}",
  publicRpcUrl: "https://mainnet.optimism.io",
  mainnet: true,
  // As on Base, which runs the same software: far above everyday fees, below what a small payment could bear.
  gas: { feePerGasMax: 500_000_000n, priorityFeePerGasMax: 50_000_000n },
};
