// The repair of stored history: the logs of some final blocks read again, every range by two nodes where there are two.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../chain/chains/chains.ts";
import { type BlockRange as ReadRange, streamLogs } from "../chain/logs/stream-logs.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import { createLogDecoder } from "../protocol/decode/logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { createProtocol } from "../protocol/fold.ts";
import { readCheckpoint } from "../store/index/checkpoint.ts";
import { replaceStoredLogs } from "../store/index/raw-logs.ts";
import type { Lock } from "../store/postgres/advisory-lock.ts";
import { createDetailReads, createLogFilters } from "./chain-source.ts";

export type RereadRange = { readonly from: number; readonly to: number };

export type RereadOptions = {
  readonly rpc: Rpc;
  readonly deployment: Deployment;
  readonly range: RereadRange;
  readonly rangeMax: number;
  readonly signal: AbortSignal;
};

/** Returns the number of logs read. Each batch is stored at once: interrupted, it is simply run again. */
export async function rereadLogs(lock: Lock, options: RereadOptions): Promise<number> {
  const { rpc, deployment, range, signal } = options;
  await lock.transaction(async (session) => refuseUnfit(range, deployment, await readCheckpoint(session)));
  const { addDetails: detail } = createProtocol(deployment, createDetailReads(rpc));
  const { logsBloom } = findChainById(deployment.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  let logs = 0;
  for await (const batch of streamLogs(rpc, {
    fromBlock: range.from,
    toBlock: range.to,
    filters: createLogFilters(createLogDecoder(deployment)),
    rangeMax: options.rangeMax,
    crossCheckFraction: 1,
    onUnconfirmed: refuseUnconfirmed,
    bloom: logsBloom,
    signal,
  })) {
    const detailed = await detail(batch.logs, signal);
    const blocks = { from: batch.fromBlock, to: batch.toBlock };
    await lock.transaction((session) => replaceStoredLogs(session, blocks, detailed));
    logs += detailed.length;
  }
  return logs;
}

/** A repair must not put one node's word in place of what is stored: a single node has to be configured as such. */
function refuseUnconfirmed({ fromBlock, toBlock }: ReadRange): never {
  throw new Fault(
    "NODE_UNAVAILABLE",
    `Blocks ${fromBlock} to ${toBlock} were read from one node, and no other one responded; nothing of them was ` +
      "stored. Try again when another node of RPC_URL responds to log queries of this size.",
  );
}

/** Only final blocks: the others are read again by the indexer itself where the chain changes. */
function refuseUnfit(
  { from, to }: RereadRange,
  { startBlock }: Deployment,
  checkpoint: Awaited<ReturnType<typeof readCheckpoint>>,
): void {
  const last = checkpoint?.finalized ?? -1;
  if (from >= startBlock && to <= last) return;
  throw new Fault(
    "USAGE_INVALID",
    `--reread must name blocks from ${startBlock}, where the deployment begins, to ${last}, which is the last final one.`,
  );
}

/** `N` or `N-M`. */
export function parseRereadRange(text: string): RereadRange {
  const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text);
  const from = Number(found?.[1]);
  const to = Number(found?.[2] ?? found?.[1]);
  if (found && from <= to) return { from, to };
  throw new Fault(
    "USAGE_INVALID",
    `--reread must be a block, or a first and a last one such as 100-200; it is "${text}".`,
  );
}
