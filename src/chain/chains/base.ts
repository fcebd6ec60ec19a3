// Base, the chain that agents pay on.
import type { ChainInfo } from "./chain-info.ts";

export const base: ChainInfo = {
  slug: "base",
  chainId: 8453,
  name: "Base",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // About an hour: a batch has to reach Ethereum and be final there, which takes some twenty minutes.
  finalityDepth: 1_800,
  // The tag follows Ethereum's and is at least ten minutes behind; two minutes is safely less.
  finalityDepthMin: 64,
  blockTimeMs: 2_000,
  logsBloom: "complete",
  explorerTxUrl: "https://basescan.org/tx/{hash}",
  publicRpcUrl: "https://mainnet.base.org",
  mainnet: true,
  // The base fee is mostly below 0.02 gwei and passes 1 gwei in rushes only; a transfer then costs more than most
  // payments move. Tips above a few thousandths of a gwei buy nothing.
  gas: { feePerGasMax: 500_000_000n, priorityFeePerGasMax: 50_000_000n },
};
