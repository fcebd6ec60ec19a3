// Ethereum, the main chain.
import type { ChainInfo } from "./chain-info.ts";

export const ethereum: ChainInfo = {
  slug: "ethereum",
  chainId: 1,
  name: "Ethereum",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // Two epochs make a block final; half an epoch more for missed slots.
  finalityDepth: 80,
  // An epoch: the tag is two epochs behind, and slots may be missed.
  finalityDepthMin: 32,
  blockTimeMs: 12_000,
  logsBloom: "complete",
  explorerTxUrl: "https://etherscan.io/tx/{hash}",
  // Every wallet knows it.
  publicRpcUrl: null,
  mainnet: true,
  // A transfer at 50 gwei costs about 0.005 ETH; dearer hours pass. Two gwei of tip have always been enough.
  gas: { feePerGasMax: 50_000_000_000n, priorityFeePerGasMax: 2_000_000_000n },
};
