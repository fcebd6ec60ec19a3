// A window of final blocks for the indexer's own audit: what is stored of it, and what a node shows of it now.
import { headerCall } from "../../chain/headers.ts";
import {
  type BlockLogQuery,
  needsSmallerRange,
  rangeLogsCall,
  throwRangeErrorFirst,
} from "../../chain/logs/get-logs.ts";
import { mergeLogs, type NodeLog } from "../../chain/logs/log.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import { batchGroups, type Rpc, unwrapResults } from "../../chain/rpc/types.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { readStoredLogs } from "../../store/index/raw-logs.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { BlockSpan } from "./unconfirmed-ranges.ts";

// One light query every other minute covers ten million blocks in two weeks; more at once would be felt by the node.
const WINDOW_BLOCKS_MAX = 2_000;
const LOGS_MAX = 2_000;
// Asked again next time, of another node.
const ATTEMPTS_MAX = 2;

export type WindowSize = {
  blocks(): number;
  /** After a window that a node found too large. A timeout counts as that, too, so it may only be slow for a moment. */
  shrink(refused: BlockSpan): void;
  /** After each window that was read: half a minute of trouble must not make every later pass take years. */
  grow(): void;
};

export function createWindowSize(rangeMax: number): WindowSize {
  const most = Math.min(WINDOW_BLOCKS_MAX, rangeMax);
  let blocks = most;
  return {
    blocks: () => blocks,
    shrink({ from, to }) {
      blocks = Math.max(1, (to - from + 1) >> 1);
    },
    grow() {
      blocks = Math.min(most, blocks * 2);
    },
  };
}

/** A dense window ends where as many logs are read as one query should return. */
export async function readStoredWindow(
  database: Database,
  span: BlockSpan,
): Promise<{ readonly window: BlockSpan; readonly stored: readonly ChainLog[] }> {
  const { from, to } = span;
  const found = await readStoredLogs(database, { afterBlock: from - 1, toBlock: to, logsMax: LOGS_MAX });
  const stored = found.map(({ log }) => log);
  const full = stored.length >= LOGS_MAX ? stored.at(-1)?.blockNumber : undefined;
  return { window: { from, to: full ?? to }, stored };
}

/** What this provider shows of the blocks. */
export async function readNodeWindow(
  rpc: Rpc,
  only: number,
  query: BlockLogQuery,
  { from, to }: BlockSpan,
  signal: AbortSignal,
): Promise<readonly NodeLog[] | "too large"> {
  const range = { fromBlock: from, toBlock: to };
  try {
    return await rpc.pinned(
      async (node) => {
        // The header shows that the node has the blocks: one that lags would show less without an error.
        const [lists, header] = await batchGroups(
          node,
          [query.filters.map((filter) => rangeLogsCall(range, filter)), [headerCall(to)]],
          { signal },
        );
        throwRangeErrorFirst([...lists, ...header]);
        unwrapResults(header);
        return mergeLogs(unwrapResults(lists));
      },
      { only, attemptsMax: ATTEMPTS_MAX, signal },
    );
  } catch (error) {
    if (error instanceof RpcError && needsSmallerRange(error)) return "too large" as const;
    throw error;
  }
}
