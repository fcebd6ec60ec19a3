// The call that reads the logs of one block by its hash, and the check that they agree with its header.

import type { BlockHeader } from "../../schema/chain-log.ts";
import type { RpcError } from "../rpc/errors.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall, RpcResult } from "../rpc/types.ts";
import { bloomMayContainLog, type PreparedLogFilter, parseLogs, toFilterParams } from "./filter.ts";
import type { NodeLog } from "./log.ts";

// The query for the logs of a range of blocks, and which failures a smaller range cures.

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

/** `partial`: the chain also reports logs that its blooms leave out (Polygon's state syncs). */
export type BloomCoverage = "complete" | "partial";

/** The call that reads one filter's logs of one block; for callers who put it into a batch of their own. */
export function blockLogsCall(
  header: BlockHeader,
  wanted: PreparedLogFilter,
  bloom: BloomCoverage,
): RpcCall<NodeLog[]> {
  return {
    method: "eth_getLogs",
    params: [{ blockHash: header.hash, ...toFilterParams(wanted) }],
    parse: (answer) => {
      const logs = parseLogs(answer, wanted);
      for (const log of logs) assertLogInBlock(log, header, bloom);
      return logs;
    },
  };
}

/** A log that claims to be of this block must agree with the block's header in everything. */
export function assertLogInBlock(log: NodeLog, header: BlockHeader, bloom: BloomCoverage): void {
  if (log.blockNumber !== header.number || log.blockHash !== header.hash) {
    throw malformedResponse(`a log of block ${log.blockHash} was given for block ${header.hash}`);
  }
  if (log.blockTimestamp !== null && log.blockTimestamp !== header.timestamp) {
    throw malformedResponse(`a log and its block ${header.number} have different times`);
  }
  if (bloom === "complete" && !bloomMayContainLog(header.logsBloom, log)) {
    throw malformedResponse(`the bloom of block ${header.number} does not know log ${log.logIndex}`);
  }
}
