// The logs of one range of finalized blocks: read from one node that has the blocks, checked, and silence confirmed.
import type { ChainLog, Header } from "../schema/chain-log.ts";
import { malformed } from "./bad-answer.ts";
import { type BloomKind, blockLogsCall, requireOfBlock } from "./block-logs.ts";
import { headerCall, readHeaders } from "./blocks.ts";
import type { NodeLog } from "./log.ts";
import { filterParams, mergeLogs, parseLogs, type Wanted } from "./log-filter.ts";
import { toQuantity } from "./quantity.ts";
import {
  type Answer,
  type CallOptions,
  type PinnedRpc,
  type Rpc,
  type RpcCall,
  valuesOf,
} from "./rpc/call.ts";
import { type RangeHint, RpcError } from "./rpc/failure.ts";

export type RangeQuestion = {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly wanted: readonly Wanted[];
  readonly bloom: BloomKind;
  /** Providers too narrow for a second look at such ranges; found out here, kept by the caller. */
  readonly narrow: Set<number>;
};

export type RangeAnswer =
  | { readonly provider: number; readonly logs: readonly ChainLog[] }
  | { readonly provider: number; readonly tooLarge: RpcError; readonly hint: RangeHint | null };

type Reading = { readonly logs: readonly NodeLog[]; readonly last: Header };

/**
 * Why the answer can be believed:
 * - The node that gives the logs shows the header of the last block in the same batch: it has the range. A node
 *   that lags would otherwise answer with less, or nothing, and no error.
 * - The header of every block that has logs is read too: hash, time and bloom must agree with each log.
 * - Behind a balancer, logs and header may still come from two machines, one of which lags. What that one leaves out
 *   is always the end of the range. So the silent end (everything, when there is no log at all) is looked at a second
 *   time, by another provider where there is one, together with the logs of the last block by its hash: asked by
 *   hash, a machine that does not have the block must say so. A log found there convicts the first answer.
 * - The second look includes the header of the last block even when nothing is silent: one answer that is wrong but
 *   agrees with itself does not pass.
 */
export async function readLogRange(
  rpc: Rpc,
  question: RangeQuestion,
  options: CallOptions,
): Promise<RangeAnswer> {
  return rpc.pinned(async (node): Promise<RangeAnswer> => {
    try {
      const reading = await read(node, question, options);
      const logs = await withBlocks(node, reading.logs, reading.last, question, options);
      await confirm(rpc, node, question, reading, options);
      return { provider: node.providerIndex, logs };
    } catch (error) {
      // One block can not be made smaller: there it is a failure like any other.
      if (!(error instanceof RpcError) || !asksForLess(error) || question.fromBlock === question.toBlock)
        throw error;
      return { provider: node.providerIndex, tooLarge: error, hint: error.range };
    }
  }, options);
}

function asksForLess({ kind, method }: RpcError): boolean {
  // A slow range and a slow node look the same; a smaller question is right for both.
  return (
    kind === "range-too-large" ||
    kind === "response-too-large" ||
    (kind === "timeout" && method.includes("eth_getLogs"))
  );
}

async function read(
  node: PinnedRpc,
  question: RangeQuestion,
  options: CallOptions,
  lastKnown: Header | null = null,
): Promise<Reading> {
  const byHash = lastKnown
    ? question.wanted.map((wanted) => blockLogsCall(lastKnown, wanted, question.bloom))
    : [];
  const calls: RpcCall<NodeLog[] | Header>[] = [
    ...question.wanted.map((wanted) => rangeCall(question, wanted)),
    ...byHash,
    headerCall(question.toBlock),
  ];
  const answers = await node.batch(calls, options);
  refuseLargeFirst(answers);
  const values = valuesOf(answers);
  const last = values.at(-1) as Header;
  return { logs: mergeLogs(values.slice(0, -1) as NodeLog[][]), last };
}

// Of several failures the one that a smaller range cures is the one to act on.
function refuseLargeFirst(answers: readonly Answer<unknown>[]): void {
  for (const answer of answers) if ("error" in answer && asksForLess(answer.error)) throw answer.error;
}

function rangeCall({ fromBlock, toBlock }: RangeQuestion, wanted: Wanted): RpcCall<NodeLog[]> {
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  return {
    method: "eth_getLogs",
    params: [{ ...blocks, ...filterParams(wanted) }],
    parse: (answer) => {
      const logs = parseLogs(answer, wanted);
      // Sorted, so the ends speak for all.
      const [first, last] = [logs[0], logs.at(-1)];
      if (first && last && (first.blockNumber < fromBlock || last.blockNumber > toBlock)) {
        throw malformed(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
      }
      return logs;
    },
  };
}

async function withBlocks(
  node: PinnedRpc,
  logs: readonly NodeLog[],
  last: Header,
  { bloom }: RangeQuestion,
  options: CallOptions,
): Promise<ChainLog[]> {
  const numbers = new Set(logs.map((log) => log.blockNumber));
  numbers.delete(last.number);
  const headers = await readHeaders(node, [...numbers], options);
  const byNumber = new Map([...headers, last].map((header) => [header.number, header]));
  return logs.map((log) => {
    const header = byNumber.get(log.blockNumber);
    if (!header) throw malformed(`block ${log.blockNumber} has logs but no header`);
    requireOfBlock(log, header, bloom);
    return timed(log, header);
  });
}

/** The log itself where the node has sent the time along, as most do: there are many. */
function timed(log: NodeLog, { timestamp }: Header): ChainLog {
  return log.blockTimestamp === timestamp ? (log as ChainLog) : { ...log, blockTimestamp: timestamp };
}

async function confirm(
  rpc: Rpc,
  first: PinnedRpc,
  question: RangeQuestion,
  reading: Reading,
  options: CallOptions,
): Promise<void> {
  const fromBlock = Math.max(question.fromBlock, (reading.logs.at(-1)?.blockNumber ?? -1) + 1);
  const rest = { ...question, fromBlock, wanted: fromBlock > question.toBlock ? [] : question.wanted };
  const avoid = [first.providerIndex, ...question.narrow];
  // A fallback that only takes small ranges must not force its size on the first provider: that one looks again itself.
  const look = async (node: PinnedRpc) => {
    try {
      return await read(node, rest, options, reading.last);
    } catch (error) {
      if (!(error instanceof RpcError) || !asksForLess(error) || node.providerIndex === first.providerIndex)
        throw error;
      question.narrow.add(node.providerIndex);
      return null;
    }
  };
  const second =
    (await rpc.pinned(look, { ...options, avoid })) ?? (await read(first, rest, options, reading.last));
  if (second.last.hash !== reading.last.hash) {
    throw malformed(`block ${question.toBlock} has another hash at a second look`);
  }
  const [found] = second.logs;
  if (found) throw malformed(`the logs of block ${found.blockNumber} were left out`);
}
