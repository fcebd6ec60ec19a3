// The second look at a range of logs, by another node where there is one: what the first one left out comes to light.

import type { BlockHeader } from "../../schema/chain-log.ts";
import { headerCall } from "../headers.ts";
import { malformedResponse, RpcError } from "../rpc/errors.ts";
import { type PinnedRpc, type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { findFirstDifferingBlock, mergeLogs, type PreparedLogFilter } from "./filter.ts";
import {
  type BloomCoverage,
  blockLogsCall,
  needsSmallerRange,
  rangeLogsCall,
  throwRangeErrorFirst,
} from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { readReceiptLogs } from "./receipt-logs.ts";
import { findWrongProvider } from "./resolve-disagreement.ts";

// The nodes that look at a range of history a second time: how long one that fails is waited for, and which are too narrow.

export type SecondaryProviders = {
  /** The provider does not take ranges of this size: it is left out for a while. */
  skipTemporarily(provider: number): void;
  /** Runs the work on a provider that is neither excluded nor left out; null where there is none, or none responds. */
  runOnAnother<T>(
    rpc: Rpc,
    excluded: readonly number[],
    work: (node: PinnedRpc) => Promise<T>,
    options: RpcCallOptions,
  ): Promise<T | null>;
};

// A restart, a deployment or a used-up allowance per minute is over by then. One rest more may be waited for at the end.
const WAIT_MS_MAX = 60_000;
// While an outage lasts: a node that fails now and then is heard between two failures, and one that is gone for hours
// makes a range cost a few seconds more.
const OUTAGE_WAIT_MS_MAX = 15_000;
// Rests double up to half a minute, so ten failures fill the time; a few more are for those that rest for less.
const ATTEMPTS_MAX = 15;
// A node that refuses ranges of this size will refuse the next ones too; one that only hung deserves another chance.
const RANGES_LEFT_OUT = 100;

/**
 * One outage is waited for at length once: while it lasts, later ranges wait for the end of a short rest only. For one
 * chain, so that a new stream does not wait for the same outage again.
 */
export function createSecondaryProviders(): SecondaryProviders {
  /** For how many ranges more, by provider. */
  const narrow = new Map<number, number>();
  let isOutage = false;
  return {
    skipTemporarily: (provider) => narrow.set(provider, RANGES_LEFT_OUT),
    async runOnAnother(rpc, excluded, work, options) {
      const without = new Set([...excluded, ...narrow.keys()]);
      for (const [provider, ranges] of narrow) {
        if (ranges > 1) narrow.set(provider, ranges - 1);
        else narrow.delete(provider);
      }
      const others = rpc.providers().filter((_, index) => !without.has(index)).length;
      if (others === 0) return null;
      const patience = isOutage
        ? { attemptsMax: others + 1, waitMsMax: OUTAGE_WAIT_MS_MAX }
        : { attemptsMax: ATTEMPTS_MAX, waitMsMax: WAIT_MS_MAX };
      try {
        const found = await rpc.pinned(work, { ...options, ...patience, exclude: [...without] });
        isOutage = false;
        return found;
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof RpcError)) throw error;
        isOutage = true;
        return null;
      }
    },
  };
}

export type RangeCheck = {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly wanted: readonly PreparedLogFilter[];
  readonly bloom: BloomCoverage;
  /** Kept by the caller from range to range. */
  readonly secondaryProviders: SecondaryProviders;
  /** Whether another node reads the whole range too, given how many logs the first one has shown. */
  readonly shouldCompareFully: (logs: number) => boolean;
};

/** What the first node has shown. */
export type RangeReading = {
  readonly logs: readonly NodeLog[];
  readonly last: BlockHeader;
  /** Headers of blocks whose bloom speaks of more than the node has shown. */
  readonly suspiciousHeaders: readonly BlockHeader[];
};

/** What came of one look: null where nothing speaks against the first node. */
type Finding = { readonly wrong: "first" | "other"; readonly words: string } | null;

/**
 * Throws, against the first node, when what it has shown is not whole. The second look reads
 * - the header of the last block: one response that is wrong but agrees with itself does not pass;
 * - the silent end of the range, or the whole range when it is to be compared, with the last block by its hash;
 * - every suspicious block by its hash. Where the first node is the only one, its receipts are read too.
 * Where another node shows something else, the dispute is settled before either is blamed.
 * Returns false when several nodes are configured and none but the first was heard: a failing one is waited for.
 */
export async function confirmRange(
  rpc: Rpc,
  first: PinnedRpc,
  look: RangeCheck,
  reading: RangeReading,
  options: RpcCallOptions,
): Promise<boolean> {
  const proven: number[] = [];
  const slow = new Set<number>();
  const byOther = (node: PinnedRpc) => lookByOther(rpc, first, node, look, reading, slow, options);
  for (;;) {
    const second = await look.secondaryProviders.runOnAnother(
      rpc,
      [first.providerIndex, ...proven],
      byOther,
      options,
    );
    if (second === null) break;
    if (second.isTooLarge) {
      // A fallback that only takes small ranges must not force its size on the first provider.
      look.secondaryProviders.skipTemporarily(second.provider);
      continue;
    }
    if (second.found === null) return true;
    if (second.found.wrong === "first") throw malformedResponse(second.found.words);
    await blame(rpc, second.provider, second.found.words, options);
    proven.push(second.provider);
  }
  const found = await compare(rpc, first, first, look, reading, options);
  if (found !== null) throw malformedResponse(found.words);
  return proven.length > 0 || rpc.providers().length === 1;
}

type OtherLook = { readonly provider: number; readonly isTooLarge: boolean; readonly found: Finding };

async function lookByOther(
  rpc: Rpc,
  first: PinnedRpc,
  node: PinnedRpc,
  look: RangeCheck,
  reading: RangeReading,
  slow: Set<number>,
  options: RpcCallOptions,
): Promise<OtherLook> {
  const provider = node.providerIndex;
  try {
    const found = await compare(rpc, first, node, look, reading, options);
    return { provider, isTooLarge: false, found };
  } catch (error) {
    if (!(error instanceof RpcError) || !needsSmallerRange(error)) throw error;
    // Once, a node that hangs is unfit like any other; twice, the range is too large for it.
    if (error.kind === "timeout" && !slow.has(provider)) {
      slow.add(provider);
      throw error;
    }
    return { provider, isTooLarge: true, found: null };
  }
}

/** The node rests for it, like one that sends nonsense. The range itself is settled, so it is not asked again. */
async function blame(rpc: Rpc, only: number, words: string, options: RpcCallOptions): Promise<void> {
  const refuse = () => Promise.reject(malformedResponse(words));
  await rpc.pinned(refuse, { ...options, only, attemptsMax: 1, waitMsMax: 0 }).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

type Seen = {
  readonly range: readonly NodeLog[];
  readonly byHash: readonly NodeLog[][];
  readonly last: BlockHeader;
};

async function compare(
  rpc: Rpc,
  first: PinnedRpc,
  node: PinnedRpc,
  look: RangeCheck,
  reading: RangeReading,
  options: RpcCallOptions,
): Promise<Finding> {
  const isOther = node.providerIndex !== first.providerIndex;
  const isWhole = isOther && look.shouldCompareFully(reading.logs.length);
  const silentFrom = Math.max(look.fromBlock, (reading.logs.at(-1)?.blockNumber ?? -1) + 1);
  const fromBlock = isWhole ? look.fromBlock : silentFrom;
  const isEmpty = fromBlock > look.toBlock;
  const named = isEmpty
    ? reading.suspiciousHeaders
    : [...new Set([...reading.suspiciousHeaders, reading.last])];
  const seen = await readAgain(node, { ...look, fromBlock, wanted: look.wanted, isEmpty }, named, options);
  if (seen.last.hash !== reading.last.hash) {
    return { wrong: "first", words: `block ${look.toBlock} has another hash at a second look` };
  }
  const block = differingBlock(reading, seen, named, fromBlock);
  if (block === null) {
    const omitted = isOther ? null : await omittedByReceipts(node, look, reading, options);
    return omitted === null ? null : { wrong: "first", words: `the logs of block ${omitted} were left out` };
  }
  if (!isOther) return { wrong: "first", words: `the logs of block ${block} were left out` };
  const shown = [...mergeLogs([seen.range, ...seen.byHash])].filter((log) => log.blockNumber === block);
  const parties = [
    { provider: first.providerIndex, logs: logsOf(reading.logs, block) },
    { provider: node.providerIndex, logs: shown },
  ] as const;
  const wrong = await findWrongProvider(rpc, block, parties, look, options);
  const words = `the logs of block ${block} differ from what other nodes have`;
  return { wrong: wrong === 0 ? "first" : "other", words };
}

async function readAgain(
  node: PinnedRpc,
  look: RangeCheck & { readonly isEmpty: boolean },
  named: readonly BlockHeader[],
  options: RpcCallOptions,
): Promise<Seen> {
  const { wanted, bloom } = look;
  const inRange = look.isEmpty ? [] : wanted.map((each) => rangeLogsCall(look, each));
  const byHash = named.flatMap((header) => wanted.map((each) => blockLogsCall(header, each, bloom)));
  // The header first: a node that has the last block has the logs that it is asked for afterwards. The other way round,
  // one that is behind shows a part of the range, and the header once it has caught up a moment later.
  const calls: RpcCall<NodeLog[] | BlockHeader>[] = [headerCall(look.toBlock), ...inRange, ...byHash];
  const responses = await node.batch(calls, options);
  throwRangeErrorFirst(responses);
  const [last, ...lists] = unwrapResults(responses) as [BlockHeader, ...NodeLog[][]];
  const range = lists.splice(0, inRange.length);
  return {
    range: mergeLogs(range),
    byHash: named.map((_, i) => mergeLogs(lists.slice(i * wanted.length, (i + 1) * wanted.length))),
    last,
  };
}

function differingBlock(
  reading: RangeReading,
  seen: Seen,
  named: readonly BlockHeader[],
  fromBlock: number,
): number | null {
  const inRange = reading.logs.filter((log) => log.blockNumber >= fromBlock);
  const differing = findFirstDifferingBlock(inRange, seen.range);
  if (differing !== null) return differing;
  const at = named.findIndex(
    ({ number }, i) => findFirstDifferingBlock(logsOf(reading.logs, number), seen.byHash[i] ?? []) !== null,
  );
  return named[at]?.number ?? null;
}

/** The first suspicious block whose receipts show more than the node's log index. */
async function omittedByReceipts(
  node: PinnedRpc,
  look: RangeCheck,
  reading: RangeReading,
  options: RpcCallOptions,
): Promise<number | null> {
  const shown = await readReceiptLogs(node, reading.suspiciousHeaders, look, options);
  for (const [block, logs] of shown) {
    if (findFirstDifferingBlock(logsOf(reading.logs, block), logs) !== null) return block;
  }
  return null;
}

function logsOf(logs: readonly NodeLog[], block: number): NodeLog[] {
  return logs.filter((log) => log.blockNumber === block);
}
