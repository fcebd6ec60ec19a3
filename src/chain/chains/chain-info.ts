// Facts about a chain; each chain has one data file.

/** `partial`: the chain also reports logs that its blooms omit (Polygon's state syncs). */
export type BloomCoverage = "complete" | "partial";

export type ChainInfo = {
  readonly slug: string;
  readonly chainId: number;
  readonly name: string;
  readonly native: { readonly symbol: string; readonly name: string; readonly decimals: number };
  /** Blocks below the head that count as final where a node does not know the finalized tag, or is alone in its claim. */
  readonly finalityDepth: number;
  /** The finalized block is never closer to the head than this, whatever a node claims. */
  readonly finalityDepthMin: number;
  readonly blockTimeMs: number;
  readonly logsBloom: BloomCoverage;
  /** Address of a transaction's page, with {hash} in it; null when this chain has no explorer. */
  readonly explorerTxUrl: string | null;
  /** A node that anyone may use, for wallets that do not know the chain; never read by us. */
  readonly publicRpcUrl: string | null;
  /** Whether its coins are worth money. */
  readonly mainnet: boolean;
  /** What a transaction of ours pays at most unless configured otherwise, in wei per gas. */
  readonly gas: {
    /** Base fee and tip together. */
    readonly feePerGasMax: bigint;
    /** Largest tip, whatever a node suggests. */
    readonly priorityFeePerGasMax: bigint;
  };
};
