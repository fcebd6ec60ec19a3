// The query for the logs of a range of blocks, and which failures a smaller range cures.

import type { RpcError } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import { malformedResponse } from "../rpc/invalid-response.ts";
import type { RpcCall, RpcResult } from "../rpc/types.ts";
import { type PreparedLogFilter, parseLogs, toFilterParams } from "./filter.ts";
import type { NodeLog } from "./log.ts";

export function rangeLogsCall(
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  wanted: PreparedLogFilter,
): RpcCall<NodeLog[]> {
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  return {
    method: "eth_getLogs",
    params: [{ ...blocks, ...toFilterParams(wanted) }],
    parse: (answer) => {
      const logs = parseLogs(answer, wanted);
      // Sorted, so the ends speak for all.
      const [first, last] = [logs[0], logs.at(-1)];
      if (first && last && (first.blockNumber < fromBlock || last.blockNumber > toBlock)) {
        throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
      }
      return logs;
    },
  };
}

export function needsSmallerRange({ kind, method }: RpcError): boolean {
  // A slow range and a slow node look the same; a smaller question is right for both.
  return (
    kind === "range-too-large" ||
    kind === "response-too-large" ||
    (kind === "timeout" && method.includes("eth_getLogs"))
  );
}

// Of several failures the one that a smaller range cures is the one to act on.
export function throwRangeErrorFirst(answers: readonly RpcResult<unknown>[]): void {
  for (const answer of answers) if ("error" in answer && needsSmallerRange(answer.error)) throw answer.error;
}
