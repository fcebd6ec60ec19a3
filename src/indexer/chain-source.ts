// The chain as the indexing loop reads it: heads, headers and logs over the JSON-RPC client.
import type { ChainInfo } from "../chain/chains/chain-info.ts";
import { getClaimedSafeBlock, readFinalizedHeader } from "../chain/head/finality.ts";
import { followHeads } from "../chain/head/follow-heads.ts";
import { readHeaderByHash, readHeaders } from "../chain/headers.ts";
import { callAtBlocks, callAtLaterBlock, hasLogsSince } from "../chain/historical-state.ts";
import { SecondaryProviders } from "../chain/logs/confirm-range.ts";
import type { LogFilter } from "../chain/logs/filter.ts";
import { readCrossCheckedBlockLogs } from "../chain/logs/read-block-logs.ts";
import { type BlockRange, streamLogs } from "../chain/logs/stream-logs.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { createCallTracer, readTransactions } from "../chain/transactions.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { LogDecoder } from "../protocol/decode-logs.ts";
import type { DetailReads } from "../protocol/details/read-details.ts";
import type { BlockHeader } from "../schema/chain-log.ts";

type ChainSourceOptions = {
  readonly facts: Pick<ChainInfo, "finalityDepth" | "finalityDepthMin" | "blockTimeMs" | "logsBloom">;
  readonly decoder: LogDecoder;
  readonly wsUrls: readonly Secret<string>[];
  readonly rangeMax: number;
  /** Fraction of heavy history ranges that a second node reads too, from 0 to 1. */
  readonly comparedShare: number;
  /** Awaited before the logs of a range that only one of several configured nodes confirmed. */
  readonly onUnconfirmed: (range: BlockRange) => Promise<void>;
  readonly log: Log;
};

// Polling faster than blocks arrive finds each one soon after it exists.
const POLLS_PER_BLOCK = 2;
const POLL_MS_MIN = 100;

export type ChainSource = ReturnType<typeof createChainSource>;

export function createChainSource(rpc: Rpc, options: ChainSourceOptions) {
  const { facts } = options;
  const filters = createLogFilters(options.decoder);
  const secondaryProviders = new SecondaryProviders();
  return {
    /** The newest block that cannot be undone. */
    readFinalized: (signal: AbortSignal) =>
      readFinalizedHeader(rpc, {
        depthFallback: facts.finalityDepth,
        depthMin: facts.finalityDepthMin,
        withSafe: true,
        signal,
      }),
    /** The newest block that a node called safe then; null if none does. */
    getSafeBlock: () => getClaimedSafeBlock(rpc),
    /** Yields the head whenever it may have changed. */
    followHeads: (signal: AbortSignal) =>
      followHeads(rpc, {
        wsUrls: options.wsUrls,
        pollMsMin: Math.max(POLL_MS_MIN, Math.floor(facts.blockTimeMs / POLLS_PER_BLOCK)),
        pollMsMax: Math.max(POLL_MS_MIN, facts.blockTimeMs),
        log: options.log,
        signal,
      }),
    /** Headers by number, in the given order, neighbours linked; rejects, retryably, if the node lacks one. */
    readHeaders: (numbers: readonly number[], signal: AbortSignal) =>
      readConfirmedHeaders(rpc, numbers, signal),
    /** Rejects, retryably, if the node does not know the block by its hash: it may have made the hash up. */
    confirmHeader: async (header: BlockHeader, signal: AbortSignal): Promise<void> => {
      await readHeaderByHash(rpc, header.hash, { signal });
    },
    readBlockLogs: (header: BlockHeader, signal: AbortSignal) =>
      readCrossCheckedBlockLogs(rpc, header, filters, { bloom: facts.logsBloom, signal }),
    /** The logs of final blocks, in order and without gaps. */
    streamHistory: (fromBlock: number, toBlock: number, signal: AbortSignal) =>
      streamLogs(rpc, {
        fromBlock,
        toBlock,
        filters,
        rangeMax: options.rangeMax,
        crossCheckFraction: options.comparedShare,
        onUnconfirmed: options.onUnconfirmed,
        secondaryProviders,
        bloom: facts.logsBloom,
        signal,
      }),
  };
}

/** Filters for every log of the protocol. */
export function createLogFilters(decoder: LogDecoder): readonly LogFilter[] {
  return [
    { addresses: decoder.addresses, topics0: decoder.topics0, topicsByAddress: decoder.topics0ByAddress },
    { addresses: null, topics0: decoder.anyEmitterTopics0 },
  ];
}

/**
 * A child header confirms the hash of its parent. Headers without a child in the response are read again by hash: a
 * node that made the hash up does not know such a block, and a checkpoint with it would fit no chain.
 */
async function readConfirmedHeaders(
  rpc: Rpc,
  numbers: readonly number[],
  signal: AbortSignal,
): Promise<readonly BlockHeader[]> {
  const headers = await readHeaders(rpc, numbers, { signal });
  const confirmed = new Set(headers.map(({ parentHash }) => parentHash));
  const childless = headers.filter(({ hash }) => !confirmed.has(hash));
  await Promise.all(childless.map(({ hash }) => readHeaderByHash(rpc, hash, { signal })));
  return headers;
}

export function createDetailReads(rpc: Rpc): DetailReads {
  const traceCalls = createCallTracer(rpc);
  return {
    readTransactions: (hashes, signal) => readTransactions(rpc, hashes, { signal }),
    callAtBlocks: (calls, signal) => callAtBlocks(rpc, calls, { signal }),
    callAtLaterBlock: (calls, signal) => callAtLaterBlock(rpc, calls, { signal }),
    haveChanged: (queries, at, signal) => hasLogsSince(rpc, queries, at, { signal }),
    traceCalls: (hashes, signal) => traceCalls(hashes, { signal }),
  };
}
