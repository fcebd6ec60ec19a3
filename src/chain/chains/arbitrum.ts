// Arbitrum One.
import type { ChainInfo } from "./chain-info.ts";

export const arbitrum: ChainInfo = {
  slug: "arbitrum",
  chainId: 42161,
  name: "Arbitrum One",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // About an hour, at four blocks a second.
  finalityDepth: 14_400,
  // The tag follows Ethereum's and is at least ten minutes behind; a minute is safely less.
  finalityDepthMin: 256,
  blockTimeMs: 250,
  logsBloom: "complete",
  explorerTxUrl: "https://arbiscan.io/tx/{hash}",
  publicRpcUrl: "https://arb1.arbitrum.io/rpc",
  mainnet: true,
  // The minimum is 0.01 gwei; peaks reach a few gwei. The sequencer takes transactions in order and ignores tips.
  gas: { feePerGasMax: 2_000_000_000n, priorityFeePerGasMax: 10_000_000n },
};
