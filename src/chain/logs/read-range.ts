// The logs of one range of finalized blocks: read from one node that has the blocks, checked, and looked at twice.
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { headerCall, readHeaders } from "../headers.ts";
import { malformedResponse, type RangeHint, RpcError } from "../rpc/errors.ts";
import { type PinnedRpc, type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "../rpc/types.ts";
import { findSuspiciousHeaders } from "./bloom-check.ts";
import { confirmRange, type RangeCheck } from "./confirm-range.ts";
import { mergeLogs } from "./filter.ts";
import { assertLogInBlock, needsSmallerRange, rangeLogsCall, throwRangeErrorFirst } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";

export type LogRangeQuery = RangeCheck & {
  /** Blocks whose headers are read whether or not the node shows logs of them. */
  readonly sampledBlocks: readonly number[];
};

export type LogRangeResult =
  | {
      readonly provider: number;
      readonly logs: readonly ChainLog[];
      /** False: several nodes are configured, and only this one was heard. */
      readonly isConfirmed: boolean;
    }
  | { readonly provider: number; readonly tooLarge: RpcError; readonly hint: RangeHint | null };

/**
 * Why the answer can be believed:
 * - The node that gives the logs shows the header of the last block in the same batch: it has the range. A node
 *   that lags would otherwise answer with less, or nothing, and no error.
 * - The header of every block that has logs is read too: hash, time and bloom must agree with each log.
 * - The blooms of these headers, and of a few sampled blocks, speak of logs that the node may have left out: such
 *   blocks are read again by their hash.
 * - Behind a balancer, logs and header may still come from two machines, one of which lags. What that one leaves out
 *   is always the end of the range. So the silent end (everything, when there is no log at all) is looked at a second
 *   time, by another provider where there is one, together with the logs of the last block by its hash: asked by
 *   hash, a machine that does not have the block must say so.
 * - Where there is another provider, it reads light ranges whole, and a share of the others, and must show the same.
 *   One that fails is waited for; a range that no other provider has looked at is not confirmed, and marked so.
 */
export async function readLogRange(
  rpc: Rpc,
  question: LogRangeQuery,
  options: RpcCallOptions,
): Promise<LogRangeResult> {
  return rpc.pinned(async (node): Promise<LogRangeResult> => {
    try {
      const { logs, last, sampled } = await read(node, question, options);
      const headers = await headersOf(node, logs, [...sampled, last], options);
      const timedLogs = withBlocks(logs, headers, question);
      const suspicious = findSuspiciousHeaders([...headers.values()], logs, question.wanted);
      const isConfirmed = await confirmRange(
        rpc,
        node,
        question,
        { logs, last, suspiciousHeaders: suspicious },
        options,
      );
      return { provider: node.providerIndex, logs: timedLogs, isConfirmed };
    } catch (error) {
      // One block can not be made smaller: there it is a failure like any other.
      if (
        !(error instanceof RpcError) ||
        !needsSmallerRange(error) ||
        question.fromBlock === question.toBlock
      )
        throw error;
      return { provider: node.providerIndex, tooLarge: error, hint: error.range };
    }
  }, options);
}

type Reading = {
  readonly logs: readonly NodeLog[];
  readonly last: BlockHeader;
  readonly sampled: readonly BlockHeader[];
};

async function read(node: PinnedRpc, question: LogRangeQuery, options: RpcCallOptions): Promise<Reading> {
  const { wanted, sampledBlocks: sampled, toBlock } = question;
  // Headers first: see second-look.ts.
  const headers = [toBlock, ...sampled].map(headerCall);
  const calls: RpcCall<NodeLog[] | BlockHeader>[] = [
    ...headers,
    ...wanted.map((each) => rangeLogsCall(question, each)),
  ];
  const answers = await node.batch(calls, options);
  throwRangeErrorFirst(answers);
  const values = unwrapResults(answers);
  const [last, ...others] = values.slice(0, headers.length) as [BlockHeader, ...BlockHeader[]];
  return { logs: mergeLogs(values.slice(headers.length) as NodeLog[][]), sampled: others, last };
}

/** The headers of all blocks with logs, and those that were read before, by number. */
async function headersOf(
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

function withBlocks(
  logs: readonly NodeLog[],
  headers: ReadonlyMap<number, BlockHeader>,
  { bloom }: LogRangeQuery,
): ChainLog[] {
  return logs.map((log) => {
    const header = headers.get(log.blockNumber);
    if (!header) throw malformedResponse(`block ${log.blockNumber} has logs but no header`);
    assertLogInBlock(log, header, bloom);
    return timed(log, header);
  });
}

/** The log itself where the node has sent the time along, as most do: there are many. */
function timed(log: NodeLog, { timestamp }: BlockHeader): ChainLog {
  return log.blockTimestamp === timestamp ? (log as ChainLog) : { ...log, blockTimestamp: timestamp };
}
