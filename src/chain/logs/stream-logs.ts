// The logs of finalized history, in order, in batches of bounded size, read ahead while the consumer works.
import { randomInt } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { RpcError } from "../rpc/errors.ts";
import type { Rpc } from "../rpc/types.ts";
import { createSecondaryProviders, type SecondaryProviders } from "./confirm-range.ts";
import { type LogFilter, prepareLogFilters } from "./filter.ts";
import type { BloomCoverage } from "./get-logs.ts";
import { createRangeSize } from "./range-size.ts";
import { type LogRangeResult, readLogRange } from "./read-range.ts";

export type StreamLogsOptions = {
  readonly fromBlock: number;
  /** Must be final: what is read here is not watched for reorgs. */
  readonly toBlock: number;
  readonly filters: readonly LogFilter[];
  /** The most blocks of one query. Vendors stop at 10,000; an own node takes more. */
  readonly rangeMax?: number;
  /** The blocks of the first query: small enough for any node, and doubled with every light answer. */
  readonly rangeInitial?: number;
  /** Queries under way or waiting for the consumer. */
  readonly prefetch?: number;
  /** Split at block boundaries; only a single block may exceed it. */
  readonly logsPerBatchMax?: number;
  readonly bloom?: BloomCoverage;
  /** The share of ranges that a second provider reads too, from 0 to 1; light ones always are. */
  readonly crossCheckFraction?: number;
  readonly lightLogsMax?: number;
  /** Which ranges and blocks are looked at more closely; from 0 to below 1. */
  readonly random?: () => number;
  /** Told before the logs of a range that one node alone has shown although several are configured. */
  readonly onUnconfirmed?: (range: BlockRange) => void;
  /** What is known of the nodes that look a second time, from an earlier stream of the same chain. */
  readonly secondaryProviders?: SecondaryProviders;
  readonly signal?: AbortSignal;
};

export type BlockRange = { readonly fromBlock: number; readonly toBlock: number };

export type LogBatch = BlockRange & {
  readonly logs: readonly ChainLog[];
};

// One in twenty finds a node that keeps omitting within a few dozen ranges, for a few percent of the time.
const COMPARED_SHARE = 0.05;
// The second provider is asked about every range anyway; this many logs make that response no larger than a few headers.
const LIGHT_LOGS_MAX = 200;
// They travel in the batch that reads the logs, and cost less than the log query beside them.
const HEADERS_SAMPLED = 4;

// A node must not be able to predict what is looked at more closely.
const unpredictable = () => randomInt(2 ** 32) / 2 ** 32;

type Slot = { readonly fromBlock: number; readonly toBlock: number; answer: Promise<LogRangeResult> | null };

/** Batches cover fromBlock to toBlock without gap or overlap, also where there is nothing. */
export async function* streamLogs(
  rpc: Rpc,
  options: StreamLogsOptions,
): AsyncGenerator<LogBatch, void, void> {
  const wanted = prepareLogFilters(options.filters);
  const prefetch = options.prefetch ?? 2;
  const logsPerBatchMax = options.logsPerBatchMax ?? 2_000;
  const size = createRangeSize({
    rangeMax: options.rangeMax ?? 10_000,
    rangeFirst: options.rangeInitial ?? 500,
    logsAim: logsPerBatchMax,
  });
  const random = options.random ?? unpredictable;
  const { crossCheckFraction: comparedShare = COMPARED_SHARE, lightLogsMax = LIGHT_LOGS_MAX } = options;
  const isCompared = (logs: number) => logs <= lightLogsMax || random() < comparedShare;
  // Stops what was read ahead when the consumer leaves early.
  const leaving = new AbortController();
  const leave = () => leaving.abort(options.signal?.reason);
  if (options.signal?.aborted) leave();
  options.signal?.addEventListener("abort", leave, { once: true });

  // In block order. The first may be a rest that a refusal has left over; new ones are cut from what is not planned.
  const slots: Slot[] = [];
  const others = options.secondaryProviders ?? createSecondaryProviders();
  let planned = options.fromBlock;
  let waitingLogs = 0;

  function readAhead() {
    while (slots.length < prefetch && planned <= options.toBlock) {
      const toBlock = Math.min(options.toBlock, planned + size.blocks - 1);
      slots.push({ fromBlock: planned, toBlock, answer: null });
      planned = toBlock + 1;
    }
    for (const [i, slot] of slots.entries()) {
      // Memory: beyond the one the consumer waits for, nothing is asked while too many logs lie here unread.
      if (i >= prefetch || (i > 0 && waitingLogs > 2 * logsPerBatchMax)) return;
      slot.answer ??= ask(slot);
    }
  }

  function ask(slot: Slot): Promise<LogRangeResult> {
    const { fromBlock, toBlock } = slot;
    const bloom = options.bloom ?? "complete";
    const sampled = sampleBlocks(fromBlock, toBlock, random);
    const question = {
      fromBlock,
      toBlock,
      wanted,
      bloom,
      secondaryProviders: others,
      shouldCompareFully: isCompared,
      sampledBlocks: sampled,
    };
    const answer = readLogRange(rpc, question, { signal: leaving.signal }).then((found) => {
      const blocks = toBlock - fromBlock + 1;
      if ("tooLarge" in found) size.recordRejection(blocks, found.provider, found.hint?.blocksMax ?? null);
      else size.recordSuccess(blocks, found.logs.length, found.provider);
      waitingLogs += "logs" in found ? found.logs.length : 0;
      return found;
    });
    // Its turn comes later; until then a failure must not count as unhandled.
    answer.catch(() => undefined);
    return answer;
  }

  try {
    for (readAhead(); ; readAhead()) {
      const slot = slots.shift();
      if (!slot) return;
      const found = await (slot.answer ?? ask(slot)).catch((error) => Promise.reject(explain(error, slot)));
      if ("tooLarge" in found) {
        slots.unshift(...split(slot, found, size.blocks));
        continue;
      }
      const { fromBlock, toBlock } = slot;
      if (!found.isConfirmed) options.onUnconfirmed?.({ fromBlock, toBlock });
      readAhead();
      for (const batch of cut(fromBlock, toBlock, found.logs, logsPerBatchMax)) {
        yield batch;
        waitingLogs -= batch.logs.length;
        readAhead();
      }
    }
  } finally {
    options.signal?.removeEventListener("abort", leave);
    leaving.abort(new Fault("SHUTTING_DOWN", "The logs are no longer wanted."));
  }
}

/** Some blocks of a range, without its last one, whose header is read anyway. */
function sampleBlocks(fromBlock: number, toBlock: number, random: () => number): number[] {
  const blocks = toBlock - fromBlock;
  const drawn = Array.from({ length: Math.min(blocks, HEADERS_SAMPLED) }, () =>
    Math.floor(random() * blocks),
  );
  return [...new Set(drawn)].map((offset) => fromBlock + offset);
}

/** The refused range as ranges that may pass: the one the node suggests first, or pieces of the size learnt. */
function split(slot: Slot, refused: Extract<LogRangeResult, { tooLarge: RpcError }>, blocks: number): Slot[] {
  const { fromBlock, toBlock } = slot;
  const suggested = refused.hint?.toBlock ?? null;
  const begins = refused.hint?.fromBlock ?? fromBlock;
  const fits = suggested !== null && begins <= fromBlock && suggested >= fromBlock && suggested < toBlock;
  const first = fits
    ? suggested
    : fromBlock + Math.max(1, Math.min(blocks, (toBlock - fromBlock + 1) >> 1)) - 1;
  const step = Math.max(1, first - fromBlock + 1);
  const pieces: Slot[] = [];
  // A wide range and a tiny size would make a long list: the last piece keeps the rest and is split when its turn comes.
  for (let at = fromBlock; at <= toBlock; at += step) {
    const last = pieces.length === PIECES_MAX - 1;
    pieces.push({ fromBlock: at, toBlock: last ? toBlock : Math.min(toBlock, at + step - 1), answer: null });
    if (last) break;
  }
  return pieces;
}

// A refusal costs one request, so even one in sixteen is cheap.
const PIECES_MAX = 16;

function* cut(
  fromBlock: number,
  toBlock: number,
  logs: readonly ChainLog[],
  logsMax: number,
): Generator<LogBatch> {
  let begin = 0;
  let from = fromBlock;
  while (logs.length - begin > logsMax) {
    // The last block that still fits whole; a block larger than the batch goes alone.
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

function explain(error: unknown, { fromBlock, toBlock }: Slot): unknown {
  if (!(error instanceof RpcError) || error.code !== "LOGS_TOO_LARGE") return error;
  const blocks =
    fromBlock === toBlock ? `Block ${fromBlock} alone has` : `Blocks ${fromBlock} to ${toBlock} have`;
  const message = `${blocks} more logs than the node at ${error.host} can give; use a node without that limit, or raise ours.`;
  return new Fault("LOGS_TOO_LARGE", message, { cause: error });
}
