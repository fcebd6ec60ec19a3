// What the payments need to know of the chain itself, beyond anybody's word: whether the money has moved.
import type { Hex } from "../kit/hex.ts";

export type Block = { readonly number: number; readonly timestamp: number };

export type TransferWanted = {
  readonly asset: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly nonce: Hex;
  /** Unix seconds before which it can not have happened. */
  readonly sinceSeconds: number;
};

export type Evidence =
  /** The authorization was used, and its use moved exactly this money. */
  | { readonly kind: "transferred"; readonly transaction: Hex; readonly blockNumber: number }
  /** It was cancelled, or its nonce was used for something else. */
  | { readonly kind: "spent" }
  | { readonly kind: "unused" };

/** Every function throws where the chain can not be read: not knowing is not an answer. */
export type SettlementChain = {
  findSettlement(wanted: TransferWanted, signal?: AbortSignal): Promise<Evidence>;
  head(signal?: AbortSignal): Promise<Block>;
  finalized(signal?: AbortSignal): Promise<Block>;
};
