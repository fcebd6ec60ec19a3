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
  /** The topics at each position: one of these, or null for any. */
  readonly topics: readonly (readonly Hex[] | null)[];
  /** Only logs of these contracts; of any contract when absent. */
  readonly contracts?: readonly Hex[];
};

/** Ascending by position. */
export function topicLogsCall({ fromBlock, toBlock, topics, contracts }: TopicFilter): RpcCall<NodeLog[]> {
  const range = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  // A single one without a list around it: the form that every node knows.
  const toParam = (allowed: readonly Hex[] | null) => (allowed?.length === 1 ? allowed[0] : allowed);
  const emitters = contracts === undefined ? {} : { address: toParam(contracts) };
  const allowedContracts = contracts && new Set(contracts);
  const params = topics.map(toParam);
  return getLogsCall({ ...range, ...emitters, topics: params }, (list) => {
    const logs = list.map(parseLog);
    for (const log of logs) {
      const isOfContract = allowedContracts === undefined || allowedContracts.has(log.address);
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
