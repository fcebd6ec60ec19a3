// The eth_getLogs calls, for a range of blocks or one block by its hash, and the checks of their results.

import type { BlockHeader } from "../../schema/chain-log.ts";
import type { BloomCoverage } from "../chains/chain-info.ts";
import type { RpcError } from "../rpc/errors.ts";
import { malformedResponse } from "../rpc/errors.ts";
import { toQuantity } from "../rpc/hex-values.ts";
import type { RpcCall, RpcResult } from "../rpc/types.ts";
import { bloomMayContainLog } from "./bloom-check.ts";
import { type PreparedLogFilter, parseFilteredLogs, toFilterParams } from "./filter.ts";
import type { NodeLog } from "./log.ts";

/** Which logs of a block to read, and how far its bloom can be trusted. */
export type BlockLogQuery = {
  readonly filters: readonly PreparedLogFilter[];
  readonly bloom: BloomCoverage;
};

export function getLogsCall<T>(
  filter: Readonly<Record<string, unknown>>,
  parse: (logs: readonly unknown[]) => T,
): RpcCall<T> {
  return {
    method: "eth_getLogs",
    params: [filter],
    parse: (result) => {
      if (!Array.isArray(result)) throw malformedResponse("the logs are not a list");
      return parse(result);
    },
  };
}

export function rangeLogsCall(
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  filter: PreparedLogFilter,
): RpcCall<NodeLog[]> {
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  return getLogsCall({ ...blocks, ...toFilterParams(filter) }, (list) => {
    const logs = parseFilteredLogs(list, filter);
    // Sorted, so checking the ends checks them all.
    const [first, last] = [logs[0], logs.at(-1)];
    if (first && last && (first.blockNumber < fromBlock || last.blockNumber > toBlock)) {
      throw malformedResponse(`a log lies outside of blocks ${fromBlock} to ${toBlock}`);
    }
    return logs;
  });
}

export function needsSmallerRange({ kind, method }: RpcError): boolean {
  // A slow range and a slow node look the same; a smaller range is right for both.
  return (
    kind === "range-too-large" ||
    kind === "response-too-large" ||
    (kind === "timeout" && method.includes("eth_getLogs"))
  );
}

/** Of several failures, throws the one that a smaller range cures. */
export function throwRangeErrorFirst(results: readonly RpcResult[]): void {
  for (const result of results) if ("error" in result && needsSmallerRange(result.error)) throw result.error;
}

/** The call that reads one filter's logs of one block; for callers that put it into a batch of their own. */
export function blockLogsCall(
  header: BlockHeader,
  filter: PreparedLogFilter,
  bloom: BloomCoverage,
): RpcCall<NodeLog[]> {
  return getLogsCall({ blockHash: header.hash, ...toFilterParams(filter) }, (list) => {
    const logs = parseFilteredLogs(list, filter);
    for (const log of logs) assertLogInBlock(log, header, bloom);
    return logs;
  });
}

/** A log that claims to be of this block must agree with the block's header. */
export function assertLogInBlock(log: NodeLog, header: BlockHeader, bloom: BloomCoverage): void {
  if (log.blockNumber !== header.number || log.blockHash !== header.hash) {
    throw malformedResponse(`got a log of block ${log.blockHash} for block ${header.hash}`);
  }
  if (log.blockTimestamp !== null && log.blockTimestamp !== header.timestamp) {
    throw malformedResponse(`a log and its block ${header.number} have different times`);
  }
  if (bloom === "complete" && !bloomMayContainLog(header.logsBloom, log)) {
    throw malformedResponse(`the bloom of block ${header.number} does not contain log ${log.logIndex}`);
  }
}
