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

/** Identifies a block: the hash, and the number to find it by. */
export type BlockId = Pick<BlockHeader, "number" | "hash">;

/** The same, and when the block was made. */
export type BlockSummary = Pick<BlockHeader, "number" | "hash" | "timestamp">;

/** A log, and the details that its event leaves out; null if it leaves out none. */
export type LogWithDetails = { readonly log: ChainLog; readonly details: Hex | null };

/** A decoded event of the protocol, the input of folds and explanations, with its arguments, emitter and position in the chain. */
export type EmittedEvent<Args> = {
  readonly args: Args;
  /** The emitting contract, in lower case like every address. */
  readonly address: Hex;
  readonly blockNumber: bigint;
  /** Unix seconds of the block. */
  readonly timestamp: bigint;
  readonly txHash: Hex;
  readonly logIndex: number;
};
