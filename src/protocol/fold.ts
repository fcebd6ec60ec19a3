// The protocol as the indexing loop uses it: completes logs with what events leave out, and folds them into rows.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "../lib/hex.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import type { Change, EventOrigin } from "../schema/change.ts";
import type { FoldInput, RequiredRow } from "../schema/domain.ts";
import { formatKey, type Row, type Table } from "../schema/table.ts";
import { createLogDecoder, type DecodedEvent } from "./decode/logs.ts";
import type { Deployment } from "./deployment.ts";
import type { DetailReads } from "./details/chain-reads.ts";
import { createStoredDetailsReader, readDetails } from "./details/read-details.ts";

export type LogToFold = {
  readonly log: ChainLog;
  readonly details: Hex | null;
  /** What the log says, where it has just been decoded; stored logs come without. */
  readonly event?: DecodedEvent;
};

/** The rows during one batch. */
export type FoldRows = {
  load(needs: readonly RequiredRow[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: EventOrigin): void;
};

export type Protocol = {
  addDetails(logs: readonly ChainLog[], signal: AbortSignal): Promise<readonly LogToFold[]>;
  fold(logs: readonly LogToFold[], rows: FoldRows): Promise<void>;
};

// About a millisecond: then whatever else goes on (logs on their way to the database, the next ones on their way from
// the node) gets its turn, and neither of the two has to wait for a whole batch.
const EVENTS_PER_TURN = 20;

export function createProtocol(deployment: Deployment, reads: DetailReads): Protocol {
  const decoder = createLogDecoder(deployment);
  const decode = (log: ChainLog) => decoder.decode(log, BigInt(log.blockTimestamp));

  return {
    async addDetails(logs, signal) {
      const events: { readonly log: ChainLog; readonly event: DecodedEvent }[] = [];
      for (const log of logs) {
        const event = decode(log);
        // What is none of the protocol's events (a look-alike of an account's, say) is not kept at all.
        if (!event) continue;
        events.push({ log, event });
      }
      const found = await readDetails(events, reads, signal);
      return events.map(({ log, event }) => ({ log, details: found.get(event) ?? null, event }));
    },
    async fold(logs, rows) {
      const events: { readonly event: DecodedEvent; readonly details: Hex | null }[] = [];
      const needs: RequiredRow[] = [];
      for (const { log, details, event: known } of logs) {
        const event = known ?? decode(log);
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
    },
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
    const place = `log ${event.logIndex} of block ${event.blockNumber}`;
    throw new Error(`${event.contract}.${event.name}, ${place}, could not be folded`, { cause });
  }
}
