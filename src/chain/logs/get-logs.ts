// The call that reads the logs of one block by its hash, and the check that they agree with its header.
import type { BlockHeader } from "../../schema/chain-log.ts";
import { malformedResponse } from "../rpc/invalid-response.ts";
import type { RpcCall } from "../rpc/types.ts";
import { bloomMayContainLog, type PreparedLogFilter, parseLogs, toFilterParams } from "./filter.ts";
import type { NodeLog } from "./log.ts";

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
