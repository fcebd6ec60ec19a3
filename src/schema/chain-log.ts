// Block headers and logs of the chain as plain values.
import type { Hex } from "../lib/hex.ts";
import { unpackLog } from "./packed-log.ts";

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

/** A stored log, plain or packed, with the hash and the time of its block; bytes are hex without a prefix. */
export type LogRow = Readonly<
  Record<"address" | "topics" | "data" | "block_number" | "hash" | "timestamp" | "tx_hash", string> &
    Record<"tx_index" | "log_index", number>
>;

export function decodeLogRow(row: LogRow): ChainLog {
  return toChainLog(row, unpackLog(row) ?? row);
}

function toChainLog(row: LogRow, { topics, data }: Pick<LogRow, "topics" | "data">): ChainLog {
  return {
    address: `0x${row.address}`,
    topics: splitTopics(topics),
    data: `0x${data}`,
    blockNumber: Number(row.block_number),
    blockHash: `0x${row.hash}`,
    blockTimestamp: Number(row.timestamp),
    transactionHash: `0x${row.tx_hash}`,
    transactionIndex: row.tx_index,
    logIndex: row.log_index,
  };
}

function splitTopics(digits: string): readonly Hex[] {
  const topics: Hex[] = [];
  for (let at = 0; at + 64 <= digits.length; at += 64) topics.push(`0x${digits.slice(at, at + 64)}`);
  return topics;
}

/** A stored log with the details of its event. */
export type DetailedLogRow = LogRow & { readonly details: string | null };

export function decodeDetailedLogRow(row: DetailedLogRow): LogWithDetails {
  const plain = unpackLog(row) ?? row;
  return { log: toChainLog(row, plain), details: plain.details === null ? null : `0x${plain.details}` };
}

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
