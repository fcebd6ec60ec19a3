// Logs as nodes send them, parsed strictly; and lists of logs: merged, compared, in order.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { readAddress, readData, readHash, readObject, readQuantity } from "../rpc/hex-values.ts";

/** A log before its block's header is known: not every node sends the timestamp along. */
export type NodeLog = Omit<ChainLog, "blockTimestamp"> & { readonly blockTimestamp: number | null };

// The EVM has LOG0 to LOG4.
const TOPICS_MAX = 4;

export function parseLog(value: unknown): NodeLog {
  return parseLogAfter(value, null);
}

/** The logs of one response. */
export function parseLogs(list: readonly unknown[]): NodeLog[] {
  let previous: NodeLog | null = null;
  return list.map((value) => {
    previous = parseLogAfter(value, previous);
    return previous;
  });
}

/** Values that the log before has too, such as the hash of the block, are neither checked nor kept twice. */
function parseLogAfter(value: unknown, previous: NodeLog | null): NodeLog {
  const log = readObject(value, "a log");
  if (log.removed === true) throw malformedResponse("a log is marked as removed by a reorg");
  const { topics, address, blockHash, transactionHash, blockTimestamp } = log;
  if (!Array.isArray(topics) || topics.length > TOPICS_MAX)
    throw malformedResponse("the topics of a log are not a list of four");
  const firstTopic = previous?.topics[0];
  return {
    address: readRepeated(address, previous?.address, readEmitter),
    topics: topics.map((topic, i) => readRepeated(topic, i === 0 ? firstTopic : undefined, readTopic)),
    data: readData(log.data, "the data of a log"),
    blockNumber: readQuantity(log.blockNumber, "the block number of a log"),
    blockHash: readRepeated(blockHash, previous?.blockHash, readBlockHash),
    blockTimestamp:
      blockTimestamp === undefined || blockTimestamp === null
        ? null
        : readQuantity(blockTimestamp, "the timestamp of a log"),
    transactionHash: readRepeated(transactionHash, previous?.transactionHash, readTransactionHash),
    transactionIndex: readQuantity(log.transactionIndex, "the transaction index of a log"),
    logIndex: readQuantity(log.logIndex, "the index of a log"),
  };
}

function readRepeated(value: unknown, known: Hex | undefined, read: (value: unknown) => Hex): Hex {
  return known !== undefined && value === known ? known : read(value);
}

const readEmitter = (value: unknown) => readAddress(value, "the address of a log");
const readBlockHash = (value: unknown) => readHash(value, "the block hash of a log");
const readTransactionHash = (value: unknown) => readHash(value, "the transaction hash of a log");

/** Ascending by block and position. */
export function compareLogPositions(a: NodeLog, b: NodeLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

function readTopic(topic: unknown): Hex {
  return readHash(topic, "a topic of a log");
}

/** The same list, in strictly ascending order; throws when two logs have one position. */
export function sortLogs(logs: NodeLog[]): NodeLog[] {
  if (!isAscending(logs)) logs.sort(compareLogPositions);
  let previous: NodeLog | null = null;
  for (const log of logs) {
    if (previous && compareLogPositions(previous, log) === 0) throw duplicatePosition(log);
    previous = log;
  }
  return logs;
}

// Nodes send logs in order, so the sort is the exception.
function isAscending(logs: readonly NodeLog[]): boolean {
  let previous: NodeLog | null = null;
  for (const log of logs) {
    if (previous && compareLogPositions(previous, log) > 0) return false;
    previous = log;
  }
  return true;
}

/** Several lists about the same blocks as one; a log that two filters match appears once. */
export function mergeLogs(lists: readonly (readonly NodeLog[])[]): NodeLog[] {
  const [first, ...others] = lists.filter((list) => list.length > 0);
  if (first === undefined) return [];
  if (others.length === 0) return [...first];
  const sorted = lists.flat().sort(compareLogPositions);
  return sorted.filter((log, i) => {
    const previous = sorted[i - 1];
    if (!previous || compareLogPositions(previous, log) !== 0) return true;
    if (!isSameLog(previous, log)) throw duplicatePosition(log);
    return false;
  });
}

function duplicatePosition({ logIndex, blockNumber }: NodeLog): Error {
  return malformedResponse(`two logs claim position ${logIndex} of block ${blockNumber}`);
}

/** Whether two sorted lists hold exactly the same logs. */
export function areSameLogs(a: readonly NodeLog[], b: readonly NodeLog[]): boolean {
  return findFirstDifferingBlock(a, b) === null;
}

/** The block of the first log that is only in one of two sorted lists, or differs; null when the lists are the same. */
export function findFirstDifferingBlock(a: readonly NodeLog[], b: readonly NodeLog[]): number | null {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const [one, other] = [a[i], b[i]];
    if (one && other && isSameLog(one, other)) continue;
    return Math.min(
      one?.blockNumber ?? Number.POSITIVE_INFINITY,
      other?.blockNumber ?? Number.POSITIVE_INFINITY,
    );
  }
  return null;
}

function isSameLog(a: NodeLog, b: NodeLog): boolean {
  return (
    a.blockNumber === b.blockNumber &&
    a.logIndex === b.logIndex &&
    a.transactionIndex === b.transactionIndex &&
    a.blockHash === b.blockHash &&
    a.transactionHash === b.transactionHash &&
    a.address === b.address &&
    a.data === b.data &&
    a.topics.join() === b.topics.join()
  );
}
