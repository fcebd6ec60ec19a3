// A window of final blocks for the self-audit: its stored logs, and the logs that a node returns for it now.
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

// One light query every two minutes covers ten million blocks in two weeks; larger ones would load the node.
const WINDOW_BLOCKS_MAX = 2_000;
const LOGS_MAX = 2_000;
// The next sample reads it from another node.
const ATTEMPTS_MAX = 2;

type WindowSize = {
  blocks(): number;
  /** After a window that was too large for a node, or timed out, which may be temporary. */
  shrink(rejected: BlockSpan): void;
  /** After each window that was read: a short outage must not slow down every later pass. */
  grow(): void;
};

export function createWindowSize(rangeMax: number): WindowSize {
  const blocksMax = Math.min(WINDOW_BLOCKS_MAX, rangeMax);
  let blocks = blocksMax;
  return {
    blocks: () => blocks,
    shrink({ from, to }) {
      blocks = Math.max(1, (to - from + 1) >> 1);
    },
    grow() {
      blocks = Math.min(blocksMax, blocks * 2);
    },
  };
}

/** Ends a dense window when its logs fill one query. */
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

/** The logs of the blocks according to one provider. */
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
        // The header proves that the node has the blocks: a lagging node would return fewer logs without an error.
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
