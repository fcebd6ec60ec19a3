// Block headers and logs of the chain as plain values.
import type { Hex } from "../lib/hex.ts";

export type BlockHeader = {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly logsBloom: Hex;
};

/** A log as a node reports it; hex is lower case. */
export type ChainLog = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Unix seconds. */
  readonly blockTimestamp: number;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
};

/** What identifies a block: its number and hash, and when it was made. */
export type BlockSummary = Pick<BlockHeader, "number" | "hash" | "timestamp">;

/** A log with what its event leaves out. */
export type LogWithDetails = { readonly log: ChainLog; readonly details: Hex | null };
