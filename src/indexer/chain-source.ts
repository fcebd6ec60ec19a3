// A chain as the indexing loop wants it, over the JSON-RPC client.

import type { ChainInfo } from "../chain/chains/chain-info.ts";
import { readFinalizedHeader } from "../chain/head/finality.ts";
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
import type { LogDecoder } from "../protocol/decode/logs.ts";
import type { DetailReads } from "../protocol/details/chain-reads.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import type { ChainSource } from "./ports.ts";

export type ChainSourceOptions = {
  readonly facts: Pick<ChainInfo, "finalityDepth" | "finalityDepthMin" | "blockTimeMs" | "logsBloom">;
  readonly decoder: LogDecoder;
  readonly wsUrls: readonly Secret<string>[];
  readonly rangeMax: number;
  /** The share of heavy ranges of history that a second node reads too, from 0 to 1. */
  readonly comparedShare: number;
  /** Told before the logs of a range that one node alone has shown although several are configured. */
  readonly onUnconfirmed: (range: BlockRange) => void;
  readonly log: Log;
};

// Asking a little faster than blocks come finds each one soon after it exists.
const POLLS_PER_BLOCK = 2;
const POLL_MS_MIN = 100;

export function createChainSource(rpc: Rpc, options: ChainSourceOptions): ChainSource {
  const { facts } = options;
  const filters = createLogFilters(options.decoder);
  const others = new SecondaryProviders();
  return {
    readFinalized: (signal) =>
      readFinalizedHeader(rpc, {
        depthFallback: facts.finalityDepth,
        depthMin: facts.finalityDepthMin,
        signal,
      }),
    followHeads: (signal) =>
      followHeads(rpc, {
        wsUrls: options.wsUrls,
        pollMsMin: Math.max(POLL_MS_MIN, Math.floor(facts.blockTimeMs / POLLS_PER_BLOCK)),
        pollMsMax: Math.max(POLL_MS_MIN, facts.blockTimeMs),
        log: options.log,
        signal,
      }),
    readHeaders: (numbers, signal) => readConfirmedHeaders(rpc, numbers, signal),
    readBlockLogs: (header, signal) =>
      readCrossCheckedBlockLogs(rpc, header, filters, { bloom: facts.logsBloom, signal }),
    streamHistory: (fromBlock, toBlock, signal) =>
      streamLogs(rpc, {
        fromBlock,
        toBlock,
        filters,
        rangeMax: options.rangeMax,
        crossCheckFraction: options.comparedShare,
        onUnconfirmed: options.onUnconfirmed,
        secondaryProviders: others,
        bloom: facts.logsBloom,
        signal,
      }),
  };
}

/** The logs that the protocol consists of. */
export function createLogFilters(decoder: LogDecoder): readonly LogFilter[] {
  return [
    { addresses: decoder.addresses, topics0: decoder.topics0, topicsByAddress: decoder.topics0ByAddress },
    { addresses: null, topics0: decoder.anyEmitterTopics0 },
  ];
}

/**
 * A header's hash is vouched for by the child that names it. One without a child in the answer is asked for again by
 * its hash: a node that made the hash up does not know such a block, and a checkpoint with it would fit no chain.
 */
async function readConfirmedHeaders(
  rpc: Rpc,
  numbers: readonly number[],
  signal: AbortSignal,
): Promise<readonly BlockHeader[]> {
  const headers = await readHeaders(rpc, numbers, { signal });
  const named = new Set(headers.map(({ parentHash }) => parentHash));
  const childless = headers.filter(({ hash }) => !named.has(hash));
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
