// The context of every step of the indexing loop, and its report of a written batch.
import type { AddDetails } from "../protocol/details/read-details.ts";
import type { BlockSummary } from "../schema/chain-log.ts";
import type { IndexStore } from "../store/index/store.ts";
import type { ChainSource } from "./chain-source.ts";

export type IndexingContext = {
  readonly chain: ChainSource;
  readonly addDetails: AddDetails;
  readonly store: IndexStore;
};

/** The contents of one transaction, and how long the database took. */
export type WrittenBatch = {
  readonly tip: BlockSummary;
  readonly logs: number;
  readonly blocks: number;
  readonly ms: number;
};
