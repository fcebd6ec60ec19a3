// Self-audit of unconfirmed history: compares ranges that only one of several configured nodes has confirmed.
import type { BlockLogQuery } from "../../chain/logs/get-logs.ts";
import { findFirstDifferingBlock, type NodeLog } from "../../chain/logs/log.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { BlockSpan, UnconfirmedRanges } from "./unconfirmed-ranges.ts";
import { createWindowSize, readNodeWindow, readStoredWindow } from "./window.ts";

type UnconfirmedAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly query: BlockLogQuery;
  /** Maximum number of blocks of one log query. */
  readonly rangeMax: number;
  readonly unconfirmed: UnconfirmedRanges;
  /** Decides whether the index is right about the block; false when the nodes do not decide it now. */
  readonly classifyBlock: (block: number, signal: AbortSignal) => Promise<boolean>;
};

// Makes up for an outage of an hour within minutes, at little load for the nodes.
const WINDOWS_PER_TURN = 10;
// The node that history was read from is among them, and which one it was may be unknown: two make a second opinion.
const NODES_MIN = 2;

/** Compares up to the last final block while two nodes respond; returns the number of confirmed blocks. */
export function createUnconfirmedAudit(
  options: UnconfirmedAuditOptions,
): (last: number, signal: AbortSignal) => Promise<number> {
  const { rpc, database, query, unconfirmed, classifyBlock } = options;
  const size = createWindowSize(options.rangeMax);

  /** The blocks confirmed now; null when there are none. */
  async function compareNext(last: number, signal: AbortSignal): Promise<BlockSpan | null> {
    const next = unconfirmed.list().find(({ from }) => from <= last);
    if (!next) return null;
    const span = { from: next.from, to: Math.min(next.to, last, next.from + size.blocks() - 1) };
    const { window, stored } = await readStoredWindow(database, span);
    // A node in cooldown after a failure is read next time.
    const shown = await Promise.all(
      rpc.providers().map(({ state }, only) => {
        if (state === "cooling-down") return null;
        return readNodeWindow(rpc, only, query, window, signal).catch(withoutLogs);
      }),
    );
    const responses = shown.filter(
      (logs): logs is readonly NodeLog[] => logs !== null && logs !== "too large",
    );
    if (responses.length < NODES_MIN) {
      if (shown.includes("too large")) size.shrink(window);
      return null;
    }
    size.grow();
    const differing = responses.flatMap((logs) => findFirstDifferingBlock(stored, logs) ?? []);
    if (differing.length === 0) return window;
    const block = Math.min(...differing);
    // Blocks after a difference are compared next.
    return (await classifyBlock(block, signal)) ? { from: window.from, to: block } : null;
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
