// The embedded chain of a local run.
import type { ChainInfo } from "./chain-info.ts";

export const localChain: ChainInfo = {
  slug: "local",
  chainId: 31337,
  name: "Local chain",
  native: { symbol: "ETH", name: "Ether", decimals: 18 },
  // What the local chain itself reports for its finalized tag.
  finalityDepth: 32,
  // Its node is ours, and tests choose the depth.
  finalityDepthMin: 0,
  blockTimeMs: 1_000,
  logsBloom: "complete",
  explorerTxUrl: null,
  // Its node listens on a port of the run.
  publicRpcUrl: null,
  mainnet: false,
  // Its base fee is zero unless a test sets one; the node suggests a tip of one gwei.
  gas: { feePerGasMax: 100_000_000_000n, priorityFeePerGasMax: 2_000_000_000n },
};
