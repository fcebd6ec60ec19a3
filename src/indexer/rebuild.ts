// Makes stored data again: what a rebuild of the rows needs, and logs of final blocks read again from the nodes.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../chain/chains/chains.ts";
import { type BlockRange, streamLogs } from "../chain/logs/stream-logs.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import { createLogDecoder } from "../protocol/decode-logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { createAddDetails } from "../protocol/details/read-details.ts";
import { rowDeclaration } from "../protocol/domains.ts";
import { createStoredLogsFold } from "../protocol/fold.ts";
import { type Checkpoint, readCheckpoint } from "../store/index/checkpoint.ts";
import { replaceStoredLogs } from "../store/index/raw-logs.ts";
import type { RebuildOptions } from "../store/index/rebuild.ts";
import type { Lock } from "../store/postgres/advisory-lock.ts";
import { createDetailReads, createLogFilters } from "./chain-source.ts";
import { estimateWork } from "./estimate-work.ts";
import type { BlockSpan } from "./self-audit/unconfirmed-ranges.ts";

// A large rebuild takes minutes.
const PROGRESS_MS = 2_000;

type RebuildSettings = {
  readonly schema: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Instead of lines in the log. */
  readonly onProgress?: RebuildOptions["onProgress"] | undefined;
};

/** For the indexer and the commands that start a rebuild. */
export function createRebuildOptions(
  deployment: Deployment,
  { schema, log, signal, onProgress }: RebuildSettings,
): RebuildOptions {
  const startedMs = systemClock.nowMs();
  let loggedMs = startedMs;
  return {
    schema,
    declaration: rowDeclaration,
    fold: createStoredLogsFold(deployment),
    signal,
    onProgress: ({ block, toBlock, logs }) => {
      if (onProgress) return onProgress({ block, toBlock, logs });
      const nowMs = systemClock.nowMs();
      if (nowMs - loggedMs < PROGRESS_MS) return;
      loggedMs = nowMs;
      const range = { from: deployment.startBlock, to: toBlock, block, logs };
      log.info(
        {
          component: "indexer",
          event: "rebuild_progress",
          block,
          toBlock,
          ...estimateWork(range, nowMs - startedMs),
        },
        "Rebuilding rows",
      );
    },
  };
}

export type RereadOptions = {
  readonly rpc: Rpc;
  readonly deployment: Deployment;
  readonly range: BlockSpan;
  readonly rangeMax: number;
  /** Called before each batch is stored, with its last block. */
  readonly onStore?: ((toBlock: number) => void) | undefined;
  readonly signal: AbortSignal;
};

/**
 * Repairs stored history, every range from two nodes if two are configured; returns the number of logs read. Stores
 * each batch at once, so an interrupted run is simply repeated.
 */
export async function rereadLogs(lock: Lock, options: RereadOptions): Promise<number> {
  const { rpc, deployment, range, signal } = options;
  await lock.transaction(async (session) =>
    assertFinalRange(range, deployment, await readCheckpoint(session)),
  );
  const addDetails = createAddDetails(deployment, createDetailReads(rpc));
  const { logsBloom } = findChainById(deployment.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  let logs = 0;
  for await (const batch of streamLogs(rpc, {
    fromBlock: range.from,
    toBlock: range.to,
    filters: createLogFilters(createLogDecoder(deployment)),
    rangeMax: options.rangeMax,
    crossCheckFraction: 1,
    onUnconfirmed: throwUnconfirmed,
    bloom: logsBloom,
    signal,
  })) {
    const detailed = await addDetails(batch.logs, signal);
    const blocks = { from: batch.fromBlock, to: batch.toBlock };
    options.onStore?.(batch.toBlock);
    await lock.transaction((session) => replaceStoredLogs(session, blocks, detailed));
    logs += detailed.length;
  }
  return logs;
}

/** A repair never replaces stored logs on the authority of one node, unless only one node is configured. */
function throwUnconfirmed({ fromBlock, toBlock }: BlockRange): never {
  throw new Fault(
    "NODE_UNAVAILABLE",
    `Blocks ${fromBlock} to ${toBlock} were read from one node, and no other one responded; nothing of them was ` +
      "stored. Try again when another node of RPC_URL responds to log queries of this size.",
  );
}

/** Only final blocks: the indexer itself reads the others again when the chain changes. */
function assertFinalRange(
  { from, to }: BlockSpan,
  { startBlock }: Deployment,
  checkpoint: Checkpoint | null,
): void {
  const last = checkpoint?.finalized ?? -1;
  if (from >= startBlock && to <= last) return;
  throw new Fault(
    "USAGE_INVALID",
    `--reread must name blocks from ${startBlock}, where the deployment begins, to ${last}, which is the last final one.`,
  );
}

/** Parses `N` or `N-M`. */
export function parseRereadRange(text: string): BlockSpan {
  const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text);
  const from = Number(found?.[1]);
  const to = Number(found?.[2] ?? found?.[1]);
  if (found && from <= to) return { from, to };
  throw new Fault(
    "USAGE_INVALID",
    `--reread must be a block, or a first and a last one such as 100-200; it is "${text}".`,
  );
}
