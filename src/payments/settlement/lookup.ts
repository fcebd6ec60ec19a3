// Reads from the chain itself whether the money of a payment moved, whatever a facilitator reports.
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, BlockSummary } from "../../schema/chain-log.ts";

export type ExpectedTransfer = {
  readonly asset: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly nonce: Hex;
  /** Unix seconds before which it cannot have happened. */
  readonly sinceSeconds: number;
  /** Unix seconds from which on the token rejects it. */
  readonly validBefore: number;
};

/** The authorization was used, and its use moved exactly this money. */
export type TransferFound = {
  readonly kind: "transferred";
  readonly transaction: Hex;
  readonly block: BlockId;
};

/** Everything in it is from one node and as of one block, `at`. */
export type SettlementLookupResult =
  | TransferFound
  /** It was canceled, or its nonce was used for something else; `final` when no reorg can undo that. */
  | { readonly kind: "consumed-elsewhere"; readonly at: BlockSummary; readonly final: boolean }
  /** It was used or canceled, and no log shows how. The final block, if it was read, is past `validBefore`. */
  | { readonly kind: "used-without-log"; readonly at: BlockSummary; readonly final: BlockSummary | null }
  | ({ readonly kind: "unused" } & LookupBlocks);

/**
 * "whole" reads what is final as well, and a use without a log again from other nodes. "brief" is for payments that may be
 * worthless: it reads nothing of finality, tries a failing node once more, and searches a limited number of blocks.
 */
export type LookupEffort = "whole" | "brief";

export type LookupBlocks = {
  readonly at: BlockSummary;
  /** The newest final block below `at`, on the same branch; null if it was not read or is not known. */
  readonly final: BlockSummary | null;
};

/** Tells for each authorization, in the order of the request, whether it is used as of one block. */
export type AuthorizationStates = LookupBlocks & { readonly used: readonly boolean[] };

export type BlockComparison = {
  /** The head of the node that was read. */
  readonly head: BlockSummary;
  /** Hashes of the blocks that are part of the chain below that head. */
  readonly canonical: ReadonlySet<Hex>;
  /** Hashes of the blocks that another block has replaced. A block above the head is in neither set. */
  readonly orphaned: ReadonlySet<Hex>;
};

export type BlockTransferQuery = { readonly block: BlockId; readonly transfers: readonly ExpectedTransfer[] };
