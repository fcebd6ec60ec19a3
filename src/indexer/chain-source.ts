// A chain as the indexing loop wants it, over the JSON-RPC client.

import type { ChainFacts } from "../chain/chains/chain-info.ts";
import { readTransactions } from "../chain/contract-calls.ts";
import { readFinalized } from "../chain/head/finality.ts";
import { followHeads } from "../chain/head/follow-heads.ts";
import { readHeaderByHash, readHeaders } from "../chain/headers.ts";
import { callAfterBlocks, callAtBlocks, hasLogsSince } from "../chain/historical-state.ts";
import { readComparedLogsOfBlock } from "../chain/logs/cross-checked-block-logs.ts";
import type { LogFilter } from "../chain/logs/filter.ts";
import { createOtherNodes } from "../chain/logs/secondary-providers.ts";
import { type BlockRange, streamLogs } from "../chain/logs/stream-logs.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { createCallTracer } from "../chain/transactions.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { LogDecoder } from "../protocol/decode/logs.ts";
import type { DetailReads } from "../protocol/details/chain-reads.ts";
import type { Header } from "../schema/chain-log.ts";
import type { ChainPort } from "./ports.ts";

export type ChainOptions = {
  readonly facts: Pick<ChainFacts, "finalityDepth" | "finalityDepthMin" | "blockTimeMs" | "logsBloom">;
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

export function chainPort(rpc: Rpc, options: ChainOptions): ChainPort {
  const { facts } = options;
  const filters = logFilters(options.decoder);
  const others = createOtherNodes();
  return {
    finalized: (signal) =>
      readFinalized(rpc, {
        depthFallback: facts.finalityDepth,
        depthMin: facts.finalityDepthMin,
        signal,
      }),
    heads: (signal) =>
      followHeads(rpc, {
        wsUrls: options.wsUrls,
        pollMsMin: Math.max(POLL_MS_MIN, Math.floor(facts.blockTimeMs / POLLS_PER_BLOCK)),
        pollMsMax: Math.max(POLL_MS_MIN, facts.blockTimeMs),
        log: options.log,
        signal,
      }),
    headers: (numbers, signal) => readConfirmedHeaders(rpc, numbers, signal),
    logsOf: (header, signal) =>
      readComparedLogsOfBlock(rpc, header, filters, { bloom: facts.logsBloom, signal }),
    history: (fromBlock, toBlock, signal) =>
      streamLogs(rpc, {
        fromBlock,
        toBlock,
        filters,
        rangeMax: options.rangeMax,
        comparedShare: options.comparedShare,
        onUnconfirmed: options.onUnconfirmed,
        others,
        bloom: facts.logsBloom,
        signal,
      }),
  };
}

/** The logs that the protocol consists of. */
export function logFilters(decoder: LogDecoder): readonly LogFilter[] {
  return [
    { addresses: decoder.addresses, topics0: decoder.topics0, emits: decoder.emits },
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
): Promise<readonly Header[]> {
  const headers = await readHeaders(rpc, numbers, { signal });
  const named = new Set(headers.map(({ parentHash }) => parentHash));
  const childless = headers.filter(({ hash }) => !named.has(hash));
  await Promise.all(childless.map(({ hash }) => readHeaderByHash(rpc, hash, { signal })));
  return headers;
}

export function detailReads(rpc: Rpc): DetailReads {
  const traceCalls = createCallTracer(rpc);
  return {
    transactions: (hashes, signal) => readTransactions(rpc, hashes, { signal }),
    callsAt: (calls, signal) => callAtBlocks(rpc, calls, { signal }),
    callsLater: (calls, signal) => callAfterBlocks(rpc, calls, { signal }),
    changes: (queries, at, signal) => hasLogsSince(rpc, queries, at, { signal }),
    traces: (hashes, signal) => traceCalls(hashes, { signal }),
  };
}
