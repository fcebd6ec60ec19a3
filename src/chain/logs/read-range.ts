// The logs of one range of finalized blocks: read from one node that has the blocks, checked, and looked at twice.
import type { ChainLog, Header } from "../../schema/chain-log.ts";
import { headerCall, readHeaders } from "../headers.ts";
import { type RangeHint, RpcError } from "../rpc/errors.ts";
import { malformed } from "../rpc/invalid-response.ts";
import { type CallOptions, type PinnedRpc, type Rpc, type RpcCall, valuesOf } from "../rpc/types.ts";
import { suspiciousHeaders } from "./bloom-check.ts";
import { confirmRange, type RangeLook } from "./confirm-range.ts";
import { mergeLogs } from "./filter.ts";
import { requireOfBlock } from "./get-logs.ts";
import type { NodeLog } from "./log.ts";
import { asksForLess, rangeCall, refuseLargeFirst } from "./range-call.ts";

export type RangeQuestion = RangeLook & {
  /** Blocks whose headers are read whether or not the node shows logs of them. */
  readonly sampled: readonly number[];
};

export type RangeAnswer =
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
  question: RangeQuestion,
  options: CallOptions,
): Promise<RangeAnswer> {
  return rpc.pinned(async (node): Promise<RangeAnswer> => {
    try {
      const { logs, last, sampled } = await read(node, question, options);
      const headers = await headersOf(node, logs, [...sampled, last], options);
      const timedLogs = withBlocks(logs, headers, question);
      const suspicious = suspiciousHeaders([...headers.values()], logs, question.wanted);
      const isConfirmed = await confirmRange(rpc, node, question, { logs, last, suspicious }, options);
      return { provider: node.providerIndex, logs: timedLogs, isConfirmed };
    } catch (error) {
      // One block can not be made smaller: there it is a failure like any other.
      if (!(error instanceof RpcError) || !asksForLess(error) || question.fromBlock === question.toBlock)
        throw error;
      return { provider: node.providerIndex, tooLarge: error, hint: error.range };
    }
  }, options);
}

type Reading = {
  readonly logs: readonly NodeLog[];
  readonly last: Header;
  readonly sampled: readonly Header[];
};

async function read(node: PinnedRpc, question: RangeQuestion, options: CallOptions): Promise<Reading> {
  const { wanted, sampled, toBlock } = question;
  // Headers first: see second-look.ts.
  const headers = [toBlock, ...sampled].map(headerCall);
  const calls: RpcCall<NodeLog[] | Header>[] = [
    ...headers,
    ...wanted.map((each) => rangeCall(question, each)),
  ];
  const answers = await node.batch(calls, options);
  refuseLargeFirst(answers);
  const values = valuesOf(answers);
  const [last, ...others] = values.slice(0, headers.length) as [Header, ...Header[]];
  return { logs: mergeLogs(values.slice(headers.length) as NodeLog[][]), sampled: others, last };
}

/** The headers of all blocks with logs, and those that were read before, by number. */
async function headersOf(
  node: PinnedRpc,
  logs: readonly NodeLog[],
  known: readonly Header[],
  options: CallOptions,
): Promise<ReadonlyMap<number, Header>> {
  const numbers = new Set(logs.map((log) => log.blockNumber));
  for (const { number } of known) numbers.delete(number);
  const headers = await readHeaders(node, [...numbers], options);
  return new Map([...headers, ...known].map((header) => [header.number, header]));
}

function withBlocks(
  logs: readonly NodeLog[],
  headers: ReadonlyMap<number, Header>,
  { bloom }: RangeQuestion,
): ChainLog[] {
  return logs.map((log) => {
    const header = headers.get(log.blockNumber);
    if (!header) throw malformed(`block ${log.blockNumber} has logs but no header`);
    requireOfBlock(log, header, bloom);
    return timed(log, header);
  });
}

/** The log itself where the node has sent the time along, as most do: there are many. */
function timed(log: NodeLog, { timestamp }: Header): ChainLog {
  return log.blockTimestamp === timestamp ? (log as ChainLog) : { ...log, blockTimestamp: timestamp };
}
