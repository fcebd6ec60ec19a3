// One log as the rest of Sextant knows it, read strictly from what a node sent.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { readAddress, readData, readHash, readObject, readQuantity } from "../rpc/hex-values.ts";

/** A log before its block's header is known: not every node sends the timestamp along. */
export type NodeLog = Omit<ChainLog, "blockTimestamp"> & { readonly blockTimestamp: number | null };

// The EVM has LOG0 to LOG4.
const TOPICS_MAX = 4;

export function parseLog(answer: unknown): NodeLog {
  const log = readObject(answer, "a log");
  if (log.removed === true) throw malformedResponse("a log is marked as removed by a reorg");
  const { topics } = log;
  if (!Array.isArray(topics) || topics.length > TOPICS_MAX)
    throw malformedResponse("the topics of a log are not a list of four");
  const { blockTimestamp } = log;
  return {
    address: readAddress(log.address, "the address of a log"),
    topics: topics.map(readTopic),
    data: readData(log.data, "the data of a log"),
    blockNumber: readQuantity(log.blockNumber, "the block number of a log"),
    blockHash: readHash(log.blockHash, "the block hash of a log"),
    blockTimestamp:
      blockTimestamp === undefined || blockTimestamp === null
        ? null
        : readQuantity(blockTimestamp, "the timestamp of a log"),
    transactionHash: readHash(log.transactionHash, "the transaction hash of a log"),
    transactionIndex: readQuantity(log.transactionIndex, "the transaction index of a log"),
    logIndex: readQuantity(log.logIndex, "the index of a log"),
  };
}

/** Ascending by block and position; what a merged answer of several queries is sorted by. */
export function compareLogPositions(a: NodeLog, b: NodeLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}

function readTopic(topic: unknown): Hex {
  return readHash(topic, "a topic of a log");
}
