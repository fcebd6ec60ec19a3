// Folds stored or fresh logs into changes of rows.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "../lib/hex.ts";
import type { LogWithDetails } from "../schema/chain-log.ts";
import type { Change, EventOrigin } from "../schema/change.ts";
import type { FoldInput, RequiredRow } from "../schema/domain.ts";
import type { DetailsReader } from "../schema/event-details.ts";
import { formatKey, type Row, type Table } from "../schema/table.ts";
import { createLogDecoder, type DecodedEvent, type DecodedLog } from "./decode-logs.ts";
import type { Deployment } from "./deployment.ts";

/** The rows during one batch. */
export type FoldRows = {
  load(needs: readonly RequiredRow[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: EventOrigin): void;
};

// About a millisecond of work, then other I/O gets its turn: logs on their way to the database and from the node.
const EVENTS_PER_TURN = 20;

/** Makes the changes of these logs, in order. Pure except for `rows`. */
export async function foldLogs(logs: readonly DecodedLog[], rows: FoldRows): Promise<void> {
  await rows.load(logs.flatMap(({ event }) => event.rule.requiredRows?.(event) ?? []));
  const find = (table: Table, key: Row) => rows.find(table, formatKey(table.key, key));
  for (const [index, { event, details }] of logs.entries()) {
    foldEvent(event, details, find, rows);
    if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await nextTurn();
  }
}

/** Folds logs as they are stored, without their events. */
export function createStoredLogsFold(deployment: Pick<Deployment, "contracts">) {
  const decoder = createLogDecoder(deployment);
  return (stored: readonly LogWithDetails[], rows: FoldRows): Promise<void> => {
    const logs: DecodedLog[] = [];
    for (const { log, details } of stored) {
      const event = decoder.decode(log, BigInt(log.blockTimestamp));
      if (event) logs.push({ log, details, event });
    }
    return foldLogs(logs, rows);
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

// The stored form of details: one byte says whether the rest is calldata or a contract record, so a rebuild needs no node.
const FROM_CALL = "0x00";
const FROM_STATE = "0x01";

export const encodeCallDetails = (input: Hex): Hex => `${FROM_CALL}${input.slice(2)}`;
export const encodeStateDetails = (record: Hex): Hex => `${FROM_STATE}${record.slice(2)}`;

/** How a fold reads stored details. */
export function createStoredDetailsReader(stored: Hex | null): <T>(reader: DetailsReader<T>) => T {
  return (reader) => {
    const payload: Hex = `0x${stored?.slice(4) ?? ""}`;
    if (stored?.startsWith(FROM_STATE)) return reader.decodeState(payload);
    const details = stored?.startsWith(FROM_CALL) ? reader.decodeCall(payload) : null;
    if (details === null) throw new Error("the details of the event were not stored with its log");
    return details;
  };
}
