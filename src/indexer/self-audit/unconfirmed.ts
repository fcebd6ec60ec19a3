// What the indexer's own audit compares first: history that one node alone has shown although several are configured.

import type { BlockLogQuery } from "../../chain/logs/get-logs.ts";
import { findFirstDifferingBlock, type NodeLog } from "../../chain/logs/log.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { BlockSpan, UnconfirmedRanges } from "./unconfirmed-ranges.ts";
import { createWindowSize, readNodeWindow, readStoredWindow } from "./window.ts";

export type UnconfirmedAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly query: BlockLogQuery;
  /** The most blocks of one log query. */
  readonly rangeMax: number;
  readonly unconfirmed: UnconfirmedRanges;
  /** Finds out whether the index is right about the block; false when that cannot be told now. */
  readonly classifyBlock: (block: number, signal: AbortSignal) => Promise<boolean>;
};

// An outage of an hour is made up for within minutes, and the nodes hardly notice.
const WINDOWS_PER_TURN = 10;
// The one that was believed is among them, so two are needed for a second opinion; it may not be known by now which one.
const NODES_MIN = 2;

/** Compares up to the last final block, as long as two nodes respond; returns how many blocks were confirmed. */
export function createUnconfirmedAudit(
  options: UnconfirmedAuditOptions,
): (last: number, signal: AbortSignal) => Promise<number> {
  const { rpc, database, query, unconfirmed, classifyBlock: judgeBlock } = options;
  const size = createWindowSize(options.rangeMax);

  /** The blocks that are confirmed now; null when none could be. */
  async function compareNext(last: number, signal: AbortSignal): Promise<BlockSpan | null> {
    const next = unconfirmed.list().find(({ from }) => from <= last);
    if (!next) return null;
    const span = { from: next.from, to: Math.min(next.to, last, next.from + size.blocks() - 1) };
    const { window, stored } = await readStoredWindow(database, span);
    // One that rests after a failure has its turn next time.
    const shown = await Promise.all(
      rpc.providers().map(({ state }, only) => {
        if (state === "cooling-down") return null;
        return readNodeWindow(rpc, only, query, window, signal).catch(withoutLogs);
      }),
    );
    const heard = shown.filter((logs): logs is readonly NodeLog[] => logs !== null && logs !== "too large");
    if (heard.length < NODES_MIN) {
      if (shown.includes("too large")) size.shrink(window);
      return null;
    }
    size.grow();
    const differing = heard.flatMap((logs) => findFirstDifferingBlock(stored, logs) ?? []);
    if (differing.length === 0) return window;
    const block = Math.min(...differing);
    // What lies behind a difference is compared next.
    return (await judgeBlock(block, signal)) ? { from: window.from, to: block } : null;
  }

  return async (last, signal) => {
    let confirmed = 0;
    for (let turn = 0; turn < WINDOWS_PER_TURN; turn += 1) {
      const span = await compareNext(last, signal);
      if (span === null) break;
      unconfirmed.confirm(span);
      confirmed += span.to - span.from + 1;
    }
    return confirmed;
  };
}

function withoutLogs(error: unknown): null {
  if (error instanceof RpcError) return null;
  throw error;
}
