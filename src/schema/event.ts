// An event of the protocol, decoded: the unit that folds and explanations work on.
import type { Hex } from "../lib/hex.ts";

/** An event as it was logged: what it says, who emitted it, and where it stands in the chain. */
export type EventRecord<Args> = {
  readonly args: Args;
  /** The contract that emitted it: lower case, as every address. */
  readonly address: Hex;
  readonly blockNumber: bigint;
  /** Unix seconds of the block. */
  readonly timestamp: bigint;
  readonly txHash: Hex;
  readonly logIndex: number;
};
