// Logs of any contract by their topics, in a range of blocks: every log is checked against what was requested.
import type { Hex } from "../../lib/hex.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall } from "../rpc/types.ts";
import { getLogsCall } from "./get-logs.ts";
import { compareLogPositions, type NodeLog, parseLog } from "./log.ts";

export type TopicFilter = {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** By position: one of these, or null for any. */
  readonly topics: readonly (readonly Hex[] | null)[];
  /** Only logs of this contract; of any contract when absent. */
  readonly contract?: Hex;
};

/** Ascending by position. */
export function topicLogsCall({ fromBlock, toBlock, topics, contract }: TopicFilter): RpcCall<NodeLog[]> {
  const range = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  const emitter = contract === undefined ? {} : { address: contract };
  // A single topic without a list around it: the form that every node knows.
  const params = topics.map((allowed) => (allowed?.length === 1 ? allowed[0] : allowed));
  return getLogsCall({ ...range, ...emitter, topics: params }, (list) => {
    const logs = list.map(parseLog);
    for (const log of logs) {
      const isOfContract = contract === undefined || log.address === contract;
      const hasTopics = topics.every(
        (allowed, i) => allowed === null || allowed.includes(log.topics[i] ?? "0x"),
      );
      if (!isOfContract || !hasTopics) throw malformedResponse(`a log of ${log.address} was not requested`);
      if (log.blockNumber < fromBlock || log.blockNumber > toBlock) {
        throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
      }
    }
    return logs.sort(compareLogPositions);
  });
}
