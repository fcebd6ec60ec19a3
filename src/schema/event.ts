// A decoded event of the protocol: the input of folds and explanations.
import type { Hex } from "../lib/hex.ts";

/** An event with its arguments, emitter and position in the chain. */
export type EventRecord<Args> = {
  readonly args: Args;
  /** The emitting contract, in lower case like every address. */
  readonly address: Hex;
  readonly blockNumber: bigint;
  /** Unix seconds of the block. */
  readonly timestamp: bigint;
  readonly txHash: Hex;
  readonly logIndex: number;
};
