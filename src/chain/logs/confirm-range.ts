// The cross-check of a range of logs, by another node if there is one: finds what the first node omitted.

import type { BlockHeader } from "../../schema/chain-log.ts";
import { headerCall } from "../headers.ts";
import { malformedResponse, RpcError } from "../rpc/errors.ts";
import { batchGroups, type PinnedRpc, type Rpc, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import {
  type BlockLogQuery,
  blockLogsCall,
  needsSmallerRange,
  rangeLogsCall,
  readReceiptLogs,
  throwRangeErrorFirst,
} from "./get-logs.ts";
import { findFirstDifferingBlock, mergeLogs, type NodeLog } from "./log.ts";
import { findWrongProvider } from "./resolve-disagreement.ts";

// A restart, a deployment or a used-up allowance per minute is over by then. One more cooldown may follow at the end.
const WAIT_MS_MAX = 60_000;
// While an outage lasts: a node that fails now and then responds between two failures, and one that is gone for hours
// makes a range cost a few seconds more.
const OUTAGE_WAIT_MS_MAX = 15_000;
// Cooldowns double up to half a minute, so ten failures fill the time; a few more are for shorter cooldowns.
const ATTEMPTS_MAX = 15;
// A node that rejects ranges of this size will reject the next ones too; one that only hung deserves another chance.
const RANGES_SKIPPED = 100;

/**
 * The providers that cross-check history: how long a failing one is waited for, and which only take small ranges. Only
 * the first range of an outage waits long; while it lasts, later ranges wait for a short cooldown. One per chain, so
 * that a new stream does not wait for the same outage again.
 */
export class SecondaryProviders {
  /** How many more ranges to skip, by provider. */
  readonly #skipped = new Map<number, number>();
  #isOutage = false;

  /** The provider does not take ranges of this size. */
  skipTemporarily(provider: number): void {
    this.#skipped.set(provider, RANGES_SKIPPED);
  }

  /** Runs the work on a provider that is neither excluded nor skipped; null if no such provider exists or responds. */
  async runOnAnother<T>(
    rpc: Rpc,
    excluded: readonly number[],
    work: (node: PinnedRpc) => Promise<T>,
    options: RpcCallOptions,
  ): Promise<T | null> {
    const exclude = [...new Set([...excluded, ...this.#skipped.keys()])];
    this.#countSkippedRange();
    const others = rpc.providers().filter((_, index) => !exclude.includes(index)).length;
    if (others === 0) return null;
    const retries = this.#isOutage
      ? { attemptsMax: others + 1, waitMsMax: OUTAGE_WAIT_MS_MAX }
      : { attemptsMax: ATTEMPTS_MAX, waitMsMax: WAIT_MS_MAX };
    try {
      const result = await rpc.pinned(work, { ...options, ...retries, exclude });
      this.#isOutage = false;
      return result;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof RpcError)) throw error;
      this.#isOutage = true;
      return null;
    }
  }

  #countSkippedRange(): void {
    for (const [provider, ranges] of this.#skipped) {
      if (ranges > 1) this.#skipped.set(provider, ranges - 1);
      else this.#skipped.delete(provider);
    }
  }
}

export type RangeCheck = BlockLogQuery & {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Shared by all ranges of a chain. */
  readonly secondaryProviders: SecondaryProviders;
  /** Whether another node reads the whole range too, given the number of logs that the first one has shown. */
  readonly shouldCompareFully: (logs: number) => boolean;
};

/** The first node's logs and headers. */
type FirstReading = {
  readonly logs: readonly NodeLog[];
  readonly last: BlockHeader;
  /** Headers of blocks whose bloom suggests more than the node has shown. */
  readonly suspiciousHeaders: readonly BlockHeader[];
};

/** One confirmation: what the first node has shown of a range, and how it is checked. */
type Confirmation = {
  readonly rpc: Rpc;
  readonly first: PinnedRpc;
  readonly check: RangeCheck;
  readonly reading: FirstReading;
  readonly options: RpcCallOptions;
};

/** The result of one cross-check: null if nothing contradicts the first node. */
type Contradiction = { readonly wrong: "first" | "other"; readonly message: string } | null;

/**
 * Throws, against the first node, when what it has shown is incomplete. The cross-check reads
 * - the header of the last block, because one response may be wrong and still agree with itself;
 * - the range after the last log, or the whole range when it is compared fully, with the last block by its hash;
 * - every suspicious block by its hash. If the first node is the only one, its receipts are read too.
 * If another node shows something else, the disagreement is resolved before either counts as wrong.
 * Returns false when several nodes are configured and only the first responds: a failing one is waited for.
 */
export async function confirmRange(
  rpc: Rpc,
  first: PinnedRpc,
  check: RangeCheck,
  reading: FirstReading,
  options: RpcCallOptions,
): Promise<boolean> {
  const { secondaryProviders } = check;
  const wrongOnes: number[] = [];
  const slow = new Set<number>();
  const confirmation = { rpc, first, check, reading, options };
  const checkByOther = (node: PinnedRpc) => compareWithOther(confirmation, node, slow);
  for (;;) {
    const excluded = [first.providerIndex, ...wrongOnes];
    const second = await secondaryProviders.runOnAnother(rpc, excluded, checkByOther, options);
    if (second === null) break;
    if (second.isTooLarge) {
      // A fallback that only takes small ranges must not force its size on the first provider.
      secondaryProviders.skipTemporarily(second.provider);
      continue;
    }
    if (second.contradiction === null) return true;
    const { wrong, message } = second.contradiction;
    if (wrong === "first") throw malformedResponse(message);
    await recordBadResponse(rpc, second.provider, message, options);
    wrongOnes.push(second.provider);
  }
  const contradiction = await compare(confirmation, first);
  if (contradiction !== null) throw malformedResponse(contradiction.message);
  return wrongOnes.length > 0 || rpc.providers().length === 1;
}

type OtherCheck = {
  readonly provider: number;
  readonly isTooLarge: boolean;
  readonly contradiction: Contradiction;
};

async function compareWithOther(
  confirmation: Confirmation,
  node: PinnedRpc,
  slow: Set<number>,
): Promise<OtherCheck> {
  const provider = node.providerIndex;
  try {
    const contradiction = await compare(confirmation, node);
    return { provider, isTooLarge: false, contradiction };
  } catch (error) {
    if (!(error instanceof RpcError) || !needsSmallerRange(error)) throw error;
    // One timeout is a failure like any other; after two, the range is too large for the node.
    if (error.kind === "timeout" && !slow.has(provider)) {
      slow.add(provider);
      throw error;
    }
    return { provider, isTooLarge: true, contradiction: null };
  }
}

/** The node cools down, as after a malformed response. The range itself is settled, so it is not read again. */
async function recordBadResponse(
  rpc: Rpc,
  only: number,
  message: string,
  options: RpcCallOptions,
): Promise<void> {
  const fail = () => Promise.reject(malformedResponse(message));
  await rpc.pinned(fail, { ...options, only, attemptsMax: 1, waitMsMax: 0 }).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

async function compare(confirmation: Confirmation, node: PinnedRpc): Promise<Contradiction> {
  const { rpc, first, check, reading, options } = confirmation;
  const isOther = node.providerIndex !== first.providerIndex;
  const isWhole = isOther && check.shouldCompareFully(reading.logs.length);
  const afterLastLog = Math.max(check.fromBlock, (reading.logs.at(-1)?.blockNumber ?? -1) + 1);
  const fromBlock = isWhole ? check.fromBlock : afterLastLog;
  const isEmpty = fromBlock > check.toBlock;
  const named = isEmpty
    ? reading.suspiciousHeaders
    : [...new Set([...reading.suspiciousHeaders, reading.last])];
  const second = await readAgain(node, { ...check, fromBlock, isEmpty }, named, options);
  if (second.last.hash !== reading.last.hash) {
    return { wrong: "first", message: `block ${check.toBlock} has another hash in the cross-check` };
  }
  const block = findDifferingBlock(reading, second, named, fromBlock);
  if (block === null) {
    const omitted = isOther ? null : await findOmittedByReceipts(confirmation, node);
    return omitted === null ? null : { wrong: "first", message: `the logs of block ${omitted} were omitted` };
  }
  if (!isOther) return { wrong: "first", message: `the logs of block ${block} were omitted` };
  const candidates = [
    { provider: first.providerIndex, logs: logsOfBlock(reading.logs, block) },
    { provider: node.providerIndex, logs: logsOfBlock(mergeLogs([second.range, ...second.byHash]), block) },
  ] as const;
  const wrong = await findWrongProvider(rpc, block, candidates, check, options);
  const message = `the logs of block ${block} differ from those of other nodes`;
  return { wrong: wrong === 0 ? "first" : "other", message };
}

type SecondReading = {
  readonly range: readonly NodeLog[];
  readonly byHash: readonly NodeLog[][];
  readonly last: BlockHeader;
};

async function readAgain(
  node: PinnedRpc,
  check: RangeCheck & { readonly isEmpty: boolean },
  named: readonly BlockHeader[],
  options: RpcCallOptions,
): Promise<SecondReading> {
  const { filters, bloom } = check;
  const [lastHeader, range, ...byHash] = await batchGroups(
    node,
    [
      // The header first: a node that has the last block has the logs that are read after it. The other way round, a
      // node that is behind shows a part of the range, and the header once it has caught up a moment later.
      [headerCall(check.toBlock)],
      check.isEmpty ? [] : filters.map((filter) => rangeLogsCall(check, filter)),
      ...named.map((header) => filters.map((filter) => blockLogsCall(header, filter, bloom))),
    ],
    options,
  );
  throwRangeErrorFirst([...lastHeader, ...range, ...byHash.flat()]);
  const [last] = unwrapResults(lastHeader);
  return {
    range: mergeLogs(unwrapResults(range)),
    byHash: byHash.map((lists) => mergeLogs(unwrapResults(lists))),
    last,
  };
}

function findDifferingBlock(
  reading: FirstReading,
  second: SecondReading,
  named: readonly BlockHeader[],
  fromBlock: number,
): number | null {
  const inRange = reading.logs.filter((log) => log.blockNumber >= fromBlock);
  const differing = findFirstDifferingBlock(inRange, second.range);
  if (differing !== null) return differing;
  const found = named.find(({ number }, i) => {
    const logs = logsOfBlock(reading.logs, number);
    return findFirstDifferingBlock(logs, second.byHash[i] ?? []) !== null;
  });
  return found?.number ?? null;
}

/** The first suspicious block whose receipts show more than the node's log index. */
async function findOmittedByReceipts(
  { check, reading, options }: Confirmation,
  node: PinnedRpc,
): Promise<number | null> {
  const logsByBlock = await readReceiptLogs(node, reading.suspiciousHeaders, check, options);
  for (const [block, logs] of logsByBlock) {
    if (findFirstDifferingBlock(logsOfBlock(reading.logs, block), logs) !== null) return block;
  }
  return null;
}

function logsOfBlock(logs: readonly NodeLog[], block: number): NodeLog[] {
  return logs.filter((log) => log.blockNumber === block);
}
