// The logs of one range of finalized blocks, read from one node that has them and cross-checked; and how large it may be.
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { headerCall, readHeaders } from "../headers.ts";
import { malformedResponse, type RangeHint, RpcError } from "../rpc/errors.ts";
import { batchGroups, type PinnedRpc, type Rpc, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { confirmRange, type RangeCheck } from "./confirm-range.ts";
import { findSuspiciousHeaders } from "./filter.ts";
import { assertLogInBlock, needsSmallerRange, rangeLogsCall, throwRangeErrorFirst } from "./get-logs.ts";
import { mergeLogs, type NodeLog } from "./log.ts";

type LogRangeQuery = RangeCheck & {
  /** Blocks whose headers are read whether or not the node shows logs of them. */
  readonly sampledBlocks: readonly number[];
};

export type LogRangeResult =
  | {
      readonly provider: number;
      readonly logs: readonly ChainLog[];
      /** False: several nodes are configured, and only this one responded. */
      readonly isConfirmed: boolean;
    }
  | { readonly provider: number; readonly tooLarge: RpcError; readonly hint: RangeHint | null };

/**
 * Why the result can be trusted:
 * - The node that gives the logs shows the header of the last block in the same batch, so it has the range. A node
 *   that lags would otherwise respond with fewer logs, or none, and no error.
 * - The header of every block with logs is read too: hash, time and bloom must agree with each log.
 * - The blooms of these headers, and of a few sampled blocks, suggest logs that the node may have omitted: such blocks
 *   are read again by their hash.
 * - Behind a balancer, logs and header may still come from two machines, one of which lags. That one always omits the
 *   end of the range. So the part after the last log (everything, when there is no log at all) is cross-checked, by
 *   another provider if there is one, together with the logs of the last block by its hash: queried by hash, a
 *   machine that does not have the block must say so.
 * - Another provider, if there is one, reads light ranges whole, and a share of the others, and must show the same.
 *   A failing one is waited for; a range that no other provider has checked is marked as not confirmed.
 */
export async function readLogRange(
  rpc: Rpc,
  query: LogRangeQuery,
  options: RpcCallOptions,
): Promise<LogRangeResult> {
  return rpc.pinned(async (node): Promise<LogRangeResult> => {
    const provider = node.providerIndex;
    try {
      const { logs, last, sampled } = await readRange(node, query, options);
      const headers = await readMissingHeaders(node, logs, [...sampled, last], options);
      const timedLogs = addTimestamps(logs, headers, query);
      const suspiciousHeaders = findSuspiciousHeaders([...headers.values()], logs, query.filters);
      const isConfirmed = await confirmRange(rpc, node, query, { logs, last, suspiciousHeaders }, options);
      return { provider, logs: timedLogs, isConfirmed };
    } catch (error) {
      // One block cannot be made smaller: there it is a failure like any other.
      const isSplittable = query.fromBlock !== query.toBlock;
      if (!(error instanceof RpcError) || !needsSmallerRange(error) || !isSplittable) throw error;
      return { provider, tooLarge: error, hint: error.range };
    }
  }, options);
}

type RangeLogs = {
  readonly logs: readonly NodeLog[];
  readonly last: BlockHeader;
  readonly sampled: readonly BlockHeader[];
};

async function readRange(node: PinnedRpc, query: LogRangeQuery, options: RpcCallOptions): Promise<RangeLogs> {
  const { filters, sampledBlocks, toBlock } = query;
  const [lastHeader, headers, lists] = await batchGroups(
    node,
    // Headers first: see confirm-range.ts.
    [
      [headerCall(toBlock)],
      sampledBlocks.map(headerCall),
      filters.map((filter) => rangeLogsCall(query, filter)),
    ],
    options,
  );
  throwRangeErrorFirst([...lastHeader, ...headers, ...lists]);
  const [last] = unwrapResults(lastHeader);
  return { last, sampled: unwrapResults(headers), logs: mergeLogs(unwrapResults(lists)) };
}

/** The headers of all blocks with logs, and those that were read before, by number. */
async function readMissingHeaders(
  node: PinnedRpc,
  logs: readonly NodeLog[],
  known: readonly BlockHeader[],
  options: RpcCallOptions,
): Promise<ReadonlyMap<number, BlockHeader>> {
  const numbers = new Set(logs.map((log) => log.blockNumber));
  for (const { number } of known) numbers.delete(number);
  const headers = await readHeaders(node, [...numbers], options);
  return new Map([...headers, ...known].map((header) => [header.number, header]));
}

function addTimestamps(
  logs: readonly NodeLog[],
  headers: ReadonlyMap<number, BlockHeader>,
  { bloom }: LogRangeQuery,
): ChainLog[] {
  return logs.map((log) => {
    const header = headers.get(log.blockNumber);
    if (!header) throw malformedResponse(`block ${log.blockNumber} has logs but no header`);
    assertLogInBlock(log, header, bloom);
    return addTimestamp(log, header);
  });
}

/** Makes no copy if the node has sent the time, as most do: there are many logs. */
function addTimestamp(log: NodeLog, { timestamp }: BlockHeader): ChainLog {
  return log.blockTimestamp === timestamp ? (log as ChainLog) : { ...log, blockTimestamp: timestamp };
}

type RangeSizeOptions = {
  readonly rangeMax: number;
  readonly rangeInitial: number;
  readonly logsTarget: number;
};

/** How many blocks to read at once: grows while responses are light, shrinks when a node rejects one or it is heavy. */
export class RangeSize {
  readonly #options: RangeSizeOptions;
  #blocks: number;
  // Above this size growth is slow: a node has rejected one not far above it.
  #cautiousFrom = Number.POSITIVE_INFINITY;
  // Per provider: the small limit of a fallback must not hold back the first one when it returns.
  readonly #statedMax = new Map<number, number>();

  constructor(options: RangeSizeOptions) {
    this.#options = options;
    this.#blocks = Math.max(1, Math.min(options.rangeInitial, options.rangeMax));
  }

  get blocks(): number {
    return this.#blocks;
  }

  recordSuccess(blocks: number, logs: number, provider: number): void {
    const { rangeMax, logsTarget } = this.#options;
    // A short last range does not justify a longer one.
    if (blocks < this.#blocks) return;
    if (logs > logsTarget * 2) {
      this.#blocks = Math.max(1, Math.floor((blocks * logsTarget) / logs));
      return;
    }
    if (logs > logsTarget / 2) return;
    const grown = blocks < this.#cautiousFrom ? blocks * 2 : blocks + Math.ceil(blocks / 8);
    this.#blocks = Math.min(grown, rangeMax, this.#statedMax.get(provider) ?? rangeMax);
  }

  /** The provider rejected so many blocks; `statedMax` is the most it says it accepts. */
  recordRejection(blocks: number, provider: number, statedMax: number | null): void {
    if (statedMax !== null) this.#statedMax.set(provider, Math.max(1, statedMax));
    const half = Math.max(1, blocks >> 1);
    if (half < this.#blocks) {
      this.#blocks = statedMax === null ? half : Math.max(1, Math.min(statedMax, blocks - 1));
    }
    this.#cautiousFrom = half;
  }
}
