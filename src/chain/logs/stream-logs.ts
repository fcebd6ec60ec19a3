// The logs of finalized history, in order, in batches of bounded size, prefetched while the consumer works.
import { randomInt } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { BloomCoverage } from "../chains/chain-info.ts";
import { RpcError } from "../rpc/errors.ts";
import type { Rpc } from "../rpc/types.ts";
import { SecondaryProviders } from "./confirm-range.ts";
import { type LogFilter, type PreparedLogFilter, prepareLogFilters } from "./filter.ts";
import { type LogRangeResult, RangeSize, readLogRange } from "./read-range.ts";

export type StreamLogsOptions = {
  readonly fromBlock: number;
  /** Must be final: nothing here watches for reorgs. */
  readonly toBlock: number;
  readonly filters: readonly LogFilter[];
  /** The most blocks of one query. Vendors stop at 10,000; a node of our own takes more. */
  readonly rangeMax?: number;
  /** The blocks of the first query: small enough for any node, and doubled after every light response. */
  readonly rangeInitial?: number;
  /** Queries in flight or waiting for the consumer. */
  readonly prefetch?: number;
  /** Split at block boundaries; only a single block may exceed it. */
  readonly logsPerBatchMax?: number;
  readonly bloom?: BloomCoverage;
  /** The share of ranges that a second provider reads too, from 0 to 1; light ones always are. */
  readonly crossCheckFraction?: number;
  readonly lightLogsMax?: number;
  /** Draws the ranges and blocks that are checked more closely; from 0 to below 1. */
  readonly random?: () => number;
  /** Awaited before the logs of a range that only one of several configured nodes has shown. */
  readonly onUnconfirmed?: (range: BlockRange) => unknown;
  /** State of the cross-checking nodes from an earlier stream of the same chain. */
  readonly secondaryProviders?: SecondaryProviders;
  readonly signal?: AbortSignal;
};

export type BlockRange = { readonly fromBlock: number; readonly toBlock: number };

export type LogBatch = BlockRange & { readonly logs: readonly ChainLog[] };

// One in twenty finds a node that keeps omitting logs within a few dozen ranges, for a few percent of the time.
const CROSS_CHECK_FRACTION = 0.05;
// The second provider checks every range anyway; this many logs make its response no larger than a few headers.
const LIGHT_LOGS_MAX = 200;
// They travel in the batch that reads the logs, and cost less than the log query itself.
const HEADERS_SAMPLED = 4;

// A node must not be able to predict what is checked more closely.
const unpredictable = () => randomInt(2 ** 32) / 2 ** 32;

type Slot = BlockRange & { result: Promise<LogRangeResult> | null };

const PREFETCH = 2;
const LOGS_PER_BATCH_MAX = 2_000;

/** Batches cover fromBlock to toBlock without gap or overlap, also if there are no logs. */
export async function* streamLogs(
  rpc: Rpc,
  options: StreamLogsOptions,
): AsyncGenerator<LogBatch, void, void> {
  // Stops the prefetch when the consumer returns early.
  const stopping = new AbortController();
  const stop = () => stopping.abort(options.signal?.reason);
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener("abort", stop, { once: true });
  const prefetcher = new RangePrefetcher(rpc, options, stopping.signal);
  const { logsPerBatchMax = LOGS_PER_BATCH_MAX } = options;
  try {
    for (;;) {
      const range = await prefetcher.next();
      if (range === null) return;
      const { fromBlock, toBlock, logs } = range;
      if (!range.isConfirmed) await options.onUnconfirmed?.({ fromBlock, toBlock });
      prefetcher.fill();
      for (const batch of splitIntoBatches(fromBlock, toBlock, logs, logsPerBatchMax)) {
        yield batch;
        prefetcher.release(batch.logs.length);
      }
    }
  } finally {
    options.signal?.removeEventListener("abort", stop);
    stopping.abort(new Fault("SHUTTING_DOWN", "The logs are no longer wanted."));
  }
}

/** Reads ranges ahead of the consumer, within a number of ranges and of logs in memory. */
class RangePrefetcher {
  readonly #rpc: Rpc;
  readonly #options: StreamLogsOptions;
  readonly #signal: AbortSignal;
  readonly #filters: readonly PreparedLogFilter[];
  readonly #size: RangeSize;
  readonly #random: () => number;
  readonly #secondaryProviders: SecondaryProviders;
  readonly #prefetch: number;
  readonly #bufferedLogsMax: number;
  // In block order. The first may be left over from a rejected range; new ones start at the next unplanned block.
  readonly #slots: Slot[] = [];
  #plannedFrom: number;
  #bufferedLogs = 0;

  constructor(rpc: Rpc, options: StreamLogsOptions, signal: AbortSignal) {
    const { logsPerBatchMax = LOGS_PER_BATCH_MAX } = options;
    this.#rpc = rpc;
    this.#options = options;
    this.#signal = signal;
    this.#filters = prepareLogFilters(options.filters);
    this.#size = new RangeSize({
      rangeMax: options.rangeMax ?? 10_000,
      rangeInitial: options.rangeInitial ?? 500,
      logsTarget: logsPerBatchMax,
    });
    this.#random = options.random ?? unpredictable;
    this.#secondaryProviders = options.secondaryProviders ?? new SecondaryProviders();
    this.#prefetch = options.prefetch ?? PREFETCH;
    this.#bufferedLogsMax = 2 * logsPerBatchMax;
    this.#plannedFrom = options.fromBlock;
  }

  /** The next range with its logs; null after the last one. */
  async next(): Promise<(LogBatch & { readonly isConfirmed: boolean }) | null> {
    for (;;) {
      this.fill();
      const slot = this.#slots.shift();
      if (!slot) return null;
      const result = await (slot.result ?? this.#read(slot)).catch((error) => {
        throw explainTooLarge(error, slot);
      });
      if (!("tooLarge" in result)) {
        const { fromBlock, toBlock } = slot;
        return { fromBlock, toBlock, logs: result.logs, isConfirmed: result.isConfirmed };
      }
      this.#slots.unshift(...splitRejectedRange(slot, result, this.#size.blocks));
    }
  }

  /** Starts reads up to the limits. */
  fill(): void {
    const { toBlock: end } = this.#options;
    while (this.#slots.length < this.#prefetch && this.#plannedFrom <= end) {
      const toBlock = Math.min(end, this.#plannedFrom + this.#size.blocks - 1);
      this.#slots.push({ fromBlock: this.#plannedFrom, toBlock, result: null });
      this.#plannedFrom = toBlock + 1;
    }
    for (const [i, slot] of this.#slots.entries()) {
      // Only the range that the consumer waits for is read while too many logs are buffered.
      if (i >= this.#prefetch || (i > 0 && this.#bufferedLogs > this.#bufferedLogsMax)) return;
      slot.result ??= this.#read(slot);
    }
  }

  /** The consumer has taken so many logs. */
  release(logs: number): void {
    this.#bufferedLogs -= logs;
    this.fill();
  }

  #read({ fromBlock, toBlock }: Slot): Promise<LogRangeResult> {
    const query = {
      fromBlock,
      toBlock,
      filters: this.#filters,
      bloom: this.#options.bloom ?? "complete",
      sampledBlocks: sampleBlocks(fromBlock, toBlock, this.#random),
      secondaryProviders: this.#secondaryProviders,
      shouldCompareFully: (logs: number) => this.#shouldCompareFully(logs),
    };
    const result = readLogRange(this.#rpc, query, { signal: this.#signal }).then((read) => {
      this.#recordSize(toBlock - fromBlock + 1, read);
      return read;
    });
    // Awaited later; until then a failure must not count as unhandled.
    result.catch(() => undefined);
    return result;
  }

  #recordSize(blocks: number, read: LogRangeResult): void {
    if ("tooLarge" in read) {
      this.#size.recordRejection(blocks, read.provider, read.hint?.blocksMax ?? null);
      return;
    }
    this.#size.recordSuccess(blocks, read.logs.length, read.provider);
    this.#bufferedLogs += read.logs.length;
  }

  #shouldCompareFully(logs: number): boolean {
    const { crossCheckFraction = CROSS_CHECK_FRACTION, lightLogsMax = LIGHT_LOGS_MAX } = this.#options;
    return logs <= lightLogsMax || this.#random() < crossCheckFraction;
  }
}

/** Some blocks of a range; not the last one, whose header is read anyway. */
function sampleBlocks(fromBlock: number, toBlock: number, random: () => number): number[] {
  const blocks = toBlock - fromBlock;
  const drawn = Array.from({ length: Math.min(blocks, HEADERS_SAMPLED) }, () =>
    Math.floor(random() * blocks),
  );
  return [...new Set(drawn)].map((offset) => fromBlock + offset);
}

/** Ranges that may pass: the one that the node suggests first, or pieces of the size learnt. */
function splitRejectedRange(
  { fromBlock, toBlock }: BlockRange,
  rejected: Extract<LogRangeResult, { tooLarge: RpcError }>,
  blocks: number,
): Slot[] {
  const suggested = rejected.hint?.toBlock ?? null;
  const begins = rejected.hint?.fromBlock ?? fromBlock;
  const fits = suggested !== null && begins <= fromBlock && suggested >= fromBlock && suggested < toBlock;
  const first = fits
    ? suggested
    : fromBlock + Math.max(1, Math.min(blocks, (toBlock - fromBlock + 1) >> 1)) - 1;
  const step = Math.max(1, first - fromBlock + 1);
  const pieces: Slot[] = [];
  // A wide range and a tiny size would make a long list: the last piece has the remainder and is split in its turn.
  for (let at = fromBlock; at <= toBlock; at += step) {
    const last = pieces.length === PIECES_MAX - 1;
    pieces.push({ fromBlock: at, toBlock: last ? toBlock : Math.min(toBlock, at + step - 1), result: null });
    if (last) break;
  }
  return pieces;
}

// A rejection costs one request, so even one in sixteen is cheap.
const PIECES_MAX = 16;

function* splitIntoBatches(
  fromBlock: number,
  toBlock: number,
  logs: readonly ChainLog[],
  logsMax: number,
): Generator<LogBatch> {
  let begin = 0;
  let from = fromBlock;
  while (logs.length - begin > logsMax) {
    // Ends with the last block that still fits whole; a block larger than the batch is a batch of its own.
    let end = begin + logsMax;
    const block = logs[end]?.blockNumber;
    while (end > begin && logs[end - 1]?.blockNumber === block) end -= 1;
    if (end === begin) while (logs[end]?.blockNumber === block && end < logs.length) end += 1;
    const to = logs[end - 1]?.blockNumber ?? toBlock;
    if (end === logs.length) break;
    yield { fromBlock: from, toBlock: to, logs: logs.slice(begin, end) };
    begin = end;
    from = to + 1;
  }
  yield { fromBlock: from, toBlock, logs: logs.slice(begin) };
}

function explainTooLarge(error: unknown, { fromBlock, toBlock }: BlockRange): unknown {
  if (!(error instanceof RpcError) || error.code !== "LOGS_TOO_LARGE") return error;
  const blocks =
    fromBlock === toBlock ? `Block ${fromBlock} alone has` : `Blocks ${fromBlock} to ${toBlock} have`;
  const message = `${blocks} more logs than the node at ${error.host} can give; use a node without that limit, or raise ours.`;
  return new Fault("LOGS_TOO_LARGE", message, { cause: error });
}
