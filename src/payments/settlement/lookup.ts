// What the payments need to know of the chain itself, beyond the word of a facilitator: whether the money has moved.
import type { Hex } from "../../lib/hex.ts";

export type BlockId = { readonly number: number; readonly hash: Hex };
export type Block = BlockId & { readonly timestamp: number };

export type TransferWanted = {
  readonly asset: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly nonce: Hex;
  /** Unix seconds before which it can not have happened. */
  readonly sinceSeconds: number;
  /** Unix seconds from which on the token refuses it. */
  readonly validBefore: number;
};

/** The authorization was used, and its use moved exactly this money. */
export type Transferred = {
  readonly kind: "transferred";
  readonly transaction: Hex;
  readonly block: BlockId;
};

/** Everything in it is from one node and as of one block, `at`. */
export type Evidence =
  | Transferred
  /** It was canceled, or its nonce was used for something else; `final` when no reorg can undo that. */
  | { readonly kind: "spent"; readonly at: Block; readonly final: boolean }
  /** It was used or canceled, no log shows how, and this final block is past `validBefore`. */
  | { readonly kind: "untraced"; readonly at: Block; readonly final: Block }
  | ({ readonly kind: "unused" } & ReadAt);

export type ReadAt = {
  readonly at: Block;
  /** The newest final block below `at`, on the same branch; null where it was not read or is not known. */
  readonly final: Block | null;
};

/** Which authorizations are used as of one block, in the order in which they were requested. */
export type UsedStates = ReadAt & { readonly used: readonly boolean[] };

export type ComparedBlocks = {
  /** The head of the node that was read. */
  readonly head: Block;
  /** Hashes of the blocks that are part of the chain below that head. */
  readonly held: ReadonlySet<Hex>;
  /** Hashes of the blocks that another block has replaced. A block above the head is in neither set. */
  readonly gone: ReadonlySet<Hex>;
};

export type BlockQuery = { readonly block: BlockId; readonly wanted: readonly TransferWanted[] };

/** Every function throws where the chain can not be read: an unknown state is not a state. */
export type SettlementChain = {
  findSettlement(wanted: TransferWanted, signal?: AbortSignal): Promise<Evidence>;
  /** What this transaction did with the authorization; null while no node has its receipt. */
  findInTransaction(
    transaction: Hex,
    wanted: TransferWanted,
    signal?: AbortSignal,
  ): Promise<Transferred | { readonly kind: "other" } | null>;
  /** Many authorizations at once, without looking for the transfers. */
  readStates(wanted: readonly TransferWanted[], signal?: AbortSignal): Promise<UsedStates>;
  finalized(signal?: AbortSignal): Promise<Block>;
  compareBlocks(blocks: readonly BlockId[], signal?: AbortSignal): Promise<ComparedBlocks>;
  /** For each block, the transaction of each transfer that the logs of that block prove; null for one they do not. */
  readTransfers(
    blocks: readonly BlockQuery[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly (Hex | null)[])[]>;
};
