// The second look at a range of logs, by another node where there is one: what the first one left out comes to light.
import type { Header } from "../schema/chain-log.ts";
import { malformed } from "./bad-answer.ts";
import { type BloomKind, blockLogsCall } from "./block-logs.ts";
import { headerCall } from "./blocks.ts";
import type { NodeLog } from "./log.ts";
import { findWrongParty } from "./log-dispute.ts";
import { firstDifference, mergeLogs, type Wanted } from "./log-filter.ts";
import { asksForLess, rangeCall, refuseLargeFirst } from "./range-call.ts";
import { readLogsOfReceipts } from "./receipt-logs.ts";
import { type CallOptions, type PinnedRpc, type Rpc, type RpcCall, valuesOf } from "./rpc/call.ts";
import { RpcError } from "./rpc/failure.ts";

export type RangeLook = {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly wanted: readonly Wanted[];
  readonly bloom: BloomKind;
  /** Providers too narrow for a second look at such ranges; found out here, kept by the caller. */
  readonly narrow: Set<number>;
  /** Whether another node reads the whole range too, given how many logs the first one has shown. */
  readonly isCompared: (logs: number) => boolean;
};

/** What the first node has shown. */
export type FirstReading = {
  readonly logs: readonly NodeLog[];
  readonly last: Header;
  /** Headers of blocks whose bloom speaks of more than the node has shown. */
  readonly suspicious: readonly Header[];
};

/** A block at which the first node is wrong, and how that is told; null when nothing speaks against it. */
type Finding = { readonly wrong: string | null };

/**
 * Throws, against the first node, when what it has shown is not whole. The second look reads
 * - the header of the last block: one response that is wrong but agrees with itself does not pass;
 * - the silent end of the range, or the whole range when it is to be compared, with the last block by its hash;
 * - every suspicious block by its hash. Where the first node is the only one, its receipts are read too.
 * Where another node shows something else, the dispute is settled before anybody is blamed.
 */
export async function confirmRange(
  rpc: Rpc,
  first: PinnedRpc,
  look: RangeLook,
  reading: FirstReading,
  options: CallOptions,
): Promise<void> {
  const byOther = async (node: PinnedRpc): Promise<Finding | null> => {
    try {
      return await compare(rpc, first, node, look, reading, options);
    } catch (error) {
      if (!(error instanceof RpcError) || !asksForLess(error) || node.providerIndex === first.providerIndex)
        throw error;
      // A fallback that only takes small ranges must not force its size on the first provider.
      look.narrow.add(node.providerIndex);
      return null;
    }
  };
  const avoid = [first.providerIndex, ...look.narrow];
  const found =
    (await rpc.pinned(byOther, { ...options, avoid })) ??
    (await compare(rpc, first, first, look, reading, options));
  if (found.wrong !== null) throw malformed(found.wrong);
}

type Seen = {
  readonly range: readonly NodeLog[];
  readonly byHash: readonly NodeLog[][];
  readonly last: Header;
};

async function compare(
  rpc: Rpc,
  first: PinnedRpc,
  node: PinnedRpc,
  look: RangeLook,
  reading: FirstReading,
  options: CallOptions,
): Promise<Finding> {
  const isOther = node.providerIndex !== first.providerIndex;
  const isWhole = isOther && look.isCompared(reading.logs.length);
  const silentFrom = Math.max(look.fromBlock, (reading.logs.at(-1)?.blockNumber ?? -1) + 1);
  const fromBlock = isWhole ? look.fromBlock : silentFrom;
  const isEmpty = fromBlock > look.toBlock;
  const named = isEmpty ? reading.suspicious : [...new Set([...reading.suspicious, reading.last])];
  const seen = await readAgain(node, { ...look, fromBlock, wanted: look.wanted, isEmpty }, named, options);
  if (seen.last.hash !== reading.last.hash) {
    return { wrong: `block ${look.toBlock} has another hash at a second look` };
  }
  const block = differingBlock(reading, seen, named, fromBlock);
  if (block === null) {
    const omitted = isOther ? null : await omittedByReceipts(node, look, reading, options);
    return { wrong: omitted === null ? null : `the logs of block ${omitted} were left out` };
  }
  if (!isOther) return { wrong: `the logs of block ${block} were left out` };
  const shown = [...mergeLogs([seen.range, ...seen.byHash])].filter((log) => log.blockNumber === block);
  const parties = [
    { provider: first.providerIndex, logs: logsOf(reading.logs, block) },
    { provider: node.providerIndex, logs: shown },
  ] as const;
  const wrong = await findWrongParty(rpc, block, parties, look, options);
  const words = `the logs of block ${block} differ from what other nodes have`;
  if (wrong === 1) throw malformed(words);
  return { wrong: words };
}

async function readAgain(
  node: PinnedRpc,
  look: RangeLook & { readonly isEmpty: boolean },
  named: readonly Header[],
  options: CallOptions,
): Promise<Seen> {
  const { wanted, bloom } = look;
  const inRange = look.isEmpty ? [] : wanted.map((each) => rangeCall(look, each));
  const calls: RpcCall<NodeLog[] | Header>[] = [
    ...inRange,
    ...named.flatMap((header) => wanted.map((each) => blockLogsCall(header, each, bloom))),
    headerCall(look.toBlock),
  ];
  const responses = await node.batch(calls, options);
  refuseLargeFirst(responses);
  const values = valuesOf(responses);
  const lists = values.slice(inRange.length, -1) as NodeLog[][];
  return {
    range: mergeLogs(values.slice(0, inRange.length) as NodeLog[][]),
    byHash: named.map((_, i) => mergeLogs(lists.slice(i * wanted.length, (i + 1) * wanted.length))),
    last: values.at(-1) as Header,
  };
}

function differingBlock(
  reading: FirstReading,
  seen: Seen,
  named: readonly Header[],
  fromBlock: number,
): number | null {
  const inRange = reading.logs.filter((log) => log.blockNumber >= fromBlock);
  const differing = firstDifference(inRange, seen.range);
  if (differing !== null) return differing;
  const at = named.findIndex(
    ({ number }, i) => firstDifference(logsOf(reading.logs, number), seen.byHash[i] ?? []) !== null,
  );
  return named[at]?.number ?? null;
}

/** The first suspicious block whose receipts show more than the node's log index. */
async function omittedByReceipts(
  node: PinnedRpc,
  look: RangeLook,
  reading: FirstReading,
  options: CallOptions,
): Promise<number | null> {
  const shown = await readLogsOfReceipts(node, reading.suspicious, look, options);
  for (const [block, logs] of shown) {
    if (firstDifference(logsOf(reading.logs, block), logs) !== null) return block;
  }
  return null;
}

function logsOf(logs: readonly NodeLog[], block: number): NodeLog[] {
  return logs.filter((log) => log.blockNumber === block);
}
