// Folds stored or fresh logs into changes of rows.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "../lib/hex.ts";
import type { LogWithDetails } from "../schema/chain-log.ts";
import type { Change, EventOrigin } from "../schema/change.ts";
import type { FoldInput, RequiredRow } from "../schema/domain.ts";
import { formatKey, type Row, type Table } from "../schema/table.ts";
import { createLogDecoder, type DecodedEvent } from "./decode-logs.ts";
import type { Deployment } from "./deployment.ts";
import { createStoredDetailsReader } from "./details/stored-details.ts";

/** `event` is set where the log has just been decoded; stored logs come without. */
export type LogToFold = LogWithDetails & { readonly event?: DecodedEvent };

/** The rows during one batch. */
export type FoldRows = {
  load(needs: readonly RequiredRow[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: EventOrigin): void;
};

/** Makes the changes of these logs, in order. Pure except for `rows`. */
export type FoldLogs = (logs: readonly LogToFold[], rows: FoldRows) => Promise<void>;

// About a millisecond of work, then other I/O gets its turn: logs on their way to the database and from the node.
const EVENTS_PER_TURN = 20;

export function createFold(deployment: Pick<Deployment, "contracts">): FoldLogs {
  const decoder = createLogDecoder(deployment);
  return async (logs, rows) => {
    const events: { readonly event: DecodedEvent; readonly details: Hex | null }[] = [];
    const needs: RequiredRow[] = [];
    for (const { log, details, event: decoded } of logs) {
      const event = decoded ?? decoder.decode(log, BigInt(log.blockTimestamp));
      if (!event) continue;
      events.push({ event, details });
      if (event.rule.requiredRows) needs.push(...event.rule.requiredRows(event));
    }
    await rows.load(needs);
    const find = (table: Table, key: Row) => rows.find(table, formatKey(table.key, key));
    for (const [index, { event, details }] of events.entries()) {
      foldEvent(event, details, find, rows);
      if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await nextTurn();
    }
  };
}

type Find = (table: Table, key: Row) => Row | null;

function foldEvent(event: DecodedEvent, details: Hex | null, find: Find, rows: FoldRows): void {
  const origin = { block_number: event.blockNumber, tx_hash: event.txHash, log_index: event.logIndex };
  const input = {
    args: event.args,
    address: event.address,
    blockNumber: event.blockNumber,
    timestamp: event.timestamp,
    txHash: event.txHash,
    logIndex: event.logIndex,
    details: createStoredDetailsReader(details),
    find,
  } as unknown as FoldInput<never>;
  try {
    for (const change of event.rule.fold(input)) rows.change(change, origin);
  } catch (cause) {
    const position = `log ${event.logIndex} of block ${event.blockNumber}`;
    throw new Error(`${event.contract}.${event.name}, ${position}, could not be folded`, { cause });
  }
}
