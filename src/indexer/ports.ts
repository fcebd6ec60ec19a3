// What the indexing loop needs from a chain, a protocol and a store; doors plug them in.
import type { Hex } from "../lib/hex.ts";
import type { BlockHeader, ChainLog } from "../schema/chain-log.ts";
import type { Change, EventOrigin } from "../schema/change.ts";
import type { RequiredRow } from "../schema/domain.ts";
import type { Row, Table } from "../schema/table.ts";

export type BlockSummary = Pick<BlockHeader, "number" | "hash" | "timestamp">;

/** The chain, as far as the loop is concerned. */
export type ChainSource = {
  /** The newest block that can not be undone. */
  readFinalized(signal: AbortSignal): Promise<BlockHeader>;
  /** The head again and again, whenever it may have changed. */
  followHeads(signal: AbortSignal): AsyncIterable<BlockHeader>;
  /** Blocks by number, in the order asked for, neighbours linked; rejects, retryably, where the node lacks one. */
  readHeaders(numbers: readonly number[], signal: AbortSignal): Promise<readonly BlockHeader[]>;
  readBlockLogs(header: BlockHeader, signal: AbortSignal): Promise<readonly ChainLog[]>;
  /** The logs of blocks that can not be undone, in order and without gaps. */
  streamHistory(from: number, to: number, signal: AbortSignal): AsyncIterable<LogRange>;
};

export type LogRange = {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly logs: readonly ChainLog[];
};

/** A log with what its event leaves out. */
export type LogWithDetails = { readonly log: ChainLog; readonly details: Hex | null };

/** The rows during one batch, as a fold sees and changes them. */
export type RowsPort = {
  load(needs: readonly RequiredRow[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: EventOrigin): void;
};

/** The protocol: from logs to changes of rows. */
export type ProtocolPort = {
  /** Adds what events leave out, asking the chain where it has to. */
  addDetails(logs: readonly ChainLog[], signal: AbortSignal): Promise<readonly LogWithDetails[]>;
  /** Makes the changes of these logs, in order. Pure but for `rows`. */
  fold(logs: readonly LogWithDetails[], rows: RowsPort): Promise<void>;
};

export type Position = { readonly block: BlockSummary; readonly finalized: number };

/** A run of consecutive blocks, ready to be written at once. */
export type Batch = {
  readonly tip: BlockSummary;
  /** Blocks worth remembering: those with logs, and all that may still be undone. */
  readonly blocks: readonly (BlockSummary & { readonly logCount: number })[];
  readonly logs: readonly LogWithDetails[];
  readonly finalized: number;
};

/** A batch whose changes are made, and not yet written. */
export type Folded = {
  /** The row as the batch leaves it; undefined where the batch has not looked at it. */
  latest(table: Table, keyText: string): Row | null | undefined;
  /** All of the batch or nothing; its turn comes when the batch before it is written. */
  write(): Promise<void>;
};

/** The store: rows, raw logs, block hashes and checkpoint, changed together or not at all. */
export type StorePort = {
  readCheckpoint(): Promise<Position | null>;
  /** Makes the changes of a batch in memory, upon what `after` leaves: the batch before it, which may still be on its way. */
  fold(batch: Batch, fold: ProtocolPort["fold"], after: Folded | null): Promise<Folded>;
  /** Stored blocks from `number` downwards, newest first. */
  readBlocksDescending(number: number, limit: number): Promise<readonly BlockSummary[]>;
  rollback(to: BlockSummary): Promise<void>;
};

export type IndexingContext = {
  readonly chain: ChainSource;
  readonly protocol: ProtocolPort;
  readonly store: StorePort;
};

/** What was written at once, and how long the database took. */
export type WrittenBatch = {
  readonly tip: BlockSummary;
  readonly logs: number;
  readonly blocks: number;
  readonly ms: number;
};
